/** What the environment is made of, as the last check found it. */

import type { ReactNode } from "react";
import type { RepositoryEnvironment } from "@/api/client";
import { Card } from "@/components/page";
import { commit, duration, fileSize, plural } from "@/lib/format";

export function EnvironmentFacts({ answer }: { answer: RepositoryEnvironment }) {
  const { report, environment, layer, source } = answer;
  if (!report || !environment) return null;
  return (
    <section aria-labelledby="environment-title">
      <h2 id="environment-title" className="mb-2 font-medium">
        Environment
      </h2>
      <Card className="p-4">
        <dl className="grid gap-x-6 gap-y-2 text-[13px] sm:grid-cols-[8rem_1fr]">
          <Fact name="Defined by">{sourceWords(source)}</Fact>
          {environment.ecosystems.length > 0 && <Fact name="Found">{environment.ecosystems.join(", ")}</Fact>}
          {environment.tools.length > 0 && (
            <Fact name="Tools">
              {environment.tools.map(({ tool, wanted, found }) => (
                <p key={tool}>
                  {tool} {wanted}
                  <span className="text-muted-foreground"> · {found ?? "not there"}</span>
                </p>
              ))}
            </Fact>
          )}
          {environment.install.length > 0 && (
            <Fact name="Installs">
              {environment.install.map((command) => (
                <code key={command} className="block font-mono text-xs break-all">
                  {command}
                </code>
              ))}
            </Fact>
          )}
          {environment.services.length > 0 && (
            <Fact name="Services">
              {environment.services.map(({ command, is_ready, duration_seconds }) => (
                <p key={command}>
                  <code className="font-mono text-xs break-all">{command}</code>
                  <span className="text-muted-foreground">
                    {is_ready ? ` · ready in ${duration(duration_seconds)}` : " · not ready"}
                  </span>
                </p>
              ))}
            </Fact>
          )}
          {layer && (
            <Fact name="Installed">
              {fileSize(layer.size_bytes)} in {plural(layer.files, "file")},{" "}
              {layer.reused ? "reused" : `installed in ${duration(layer.duration_seconds)}`}
            </Fact>
          )}
          {report.clone && (
            <Fact name="Clone">
              {plural(report.clone.files, "file")}, {fileSize(report.clone.size_bytes)}, in{" "}
              {duration(report.clone.duration_seconds)}
            </Fact>
          )}
          <Fact name="Rights">
            {report.can_push ? "Can push and open pull requests" : "Can read, not push"}
          </Fact>
          <Fact name="Commit">
            <code className="font-mono text-xs">{commit(report.commit_sha)}</code>
          </Fact>
          {environment.notes.length > 0 && (
            <Fact name="Notes">
              {environment.notes.map((note) => (
                <p key={note}>{note}</p>
              ))}
            </Fact>
          )}
        </dl>
      </Card>
    </section>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted-foreground">{name}</dt>
      <dd className="min-w-0 break-words max-sm:-mt-1.5">{children}</dd>
    </>
  );
}

function sourceWords(source: string | null): string {
  if (source === "detected") return "Detected from the repository's files";
  if (source === "server") return "The definition stored on the server";
  if (source === "definition") return "The definition that was tried";
  return source ?? "";
}
