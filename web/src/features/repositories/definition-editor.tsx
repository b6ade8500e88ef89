/** The definition of an environment, to edit, try, store or propose. Unsaved text survives a reload. */

import { useRef } from "react";
import { type LineFault, problemOf, type RepositoryEnvironment } from "@/api/client";
import { ErrorMessage } from "@/components/feedback";
import { Card } from "@/components/page";
import { Button } from "@/components/ui/button";
import { Textarea } from "@/components/ui/field";
import { toast } from "@/components/ui/toast";
import { useDraft } from "@/lib/draft";
import { type EnvironmentActions, isOfEditor } from "./use-environment";

type Props = { answer: RepositoryEnvironment; actions: EnvironmentActions; disabled: boolean };

export function DefinitionEditor({ answer, actions, disabled }: Props) {
  const { repository, definition, report } = answer;
  const kept = definition ?? report?.proposed_definition ?? "";
  const [text, setText] = useDraft(`environment.${repository.repository_id}`, kept);
  const area = useRef<HTMLTextAreaElement>(null);
  const { check, store, remove, propose } = actions;
  const fault = store.error ?? propose.error ?? (isOfEditor(check.variables) ? check.error : null);
  const problem = fault && problemOf(fault);
  const lines = problem?.lines ?? (text === report?.proposed_definition ? report.mistakes : []);
  const busy = disabled || check.isPending || store.isPending || propose.isPending;
  const empty = !text.trim();
  const edit = (next: string) => {
    for (const one of [store, propose, check]) if (one.isError) one.reset();
    setText(next);
  };
  const save = () => {
    store.mutate(text, {
      onSuccess: () => {
        setText(kept);
        toast("Stored on the server");
      },
    });
  };
  return (
    <section aria-labelledby="definition-title">
      <div className="mb-2 flex flex-wrap items-baseline justify-between gap-2">
        <h2 id="definition-title" className="font-medium">
          Definition
        </h2>
        <p className="text-xs text-muted-foreground">{originOf(answer)}</p>
      </div>
      <Card className="p-4">
        <Textarea
          id="definition"
          data-slash
          ref={area}
          aria-label="Definition"
          value={text}
          onChange={(event) => edit(event.target.value)}
          rows={14}
          spellCheck={false}
          placeholder={"install: []\nchecks:\n  test: make test"}
          aria-invalid={lines.length > 0}
          aria-describedby="definition-faults"
          className="font-mono text-[13px] leading-5"
        />
        <div id="definition-faults" role="status" className="min-h-5">
          <Faults lines={lines} onGo={(line) => goToLine(area.current, line)} />
        </div>
        {fault && !problem?.lines.length && <ErrorMessage fault={fault} />}
        <div className="mt-2 flex flex-wrap gap-2">
          <Button size="sm" disabled={busy || empty} onClick={() => check.mutate({ definition: text })}>
            Try it
          </Button>
          <Button size="sm" disabled={busy || empty || text === definition} onClick={save}>
            Store on server
          </Button>
          <Button size="sm" disabled={busy || empty} onClick={() => propose.mutate(text)}>
            Open as pull request
          </Button>
          <Button size="sm" look="quiet" disabled={busy} onClick={() => check.mutate({ ask_agent: true })}>
            Ask an agent
          </Button>
          {text !== kept && (
            <Button size="sm" look="quiet" onClick={() => edit(kept)}>
              Discard changes
            </Button>
          )}
          {report?.proposed_definition && ![text, kept].includes(report.proposed_definition) && (
            <Button size="sm" look="quiet" onClick={() => edit(report.proposed_definition)}>
              Show proposal
            </Button>
          )}
          {definition !== null && (
            <Button size="sm" look="quiet" disabled={remove.isPending} onClick={() => remove.mutate()}>
              Remove from server
            </Button>
          )}
        </div>
      </Card>
    </section>
  );
}

/** Where the text comes from, and whether it is in force. */
function originOf({ definition, source }: RepositoryEnvironment): string {
  if (definition !== null) return "Stored on the server.";
  if (!source) return "Check the repository for a proposal, or write one.";
  return source.startsWith(".journeyman/") ? `In force: ${source}` : "A proposal, not in force yet.";
}

function Faults({ lines, onGo }: { lines: LineFault[]; onGo: (line: number) => void }) {
  if (!lines.length) return null;
  return (
    <ul className="mt-2 flex flex-col gap-1 text-[13px]">
      {lines.map(({ line, column, message, hint }) => (
        <li key={`${line}:${column} ${message}`}>
          <button
            type="button"
            className="text-left text-destructive hover:underline"
            onClick={() => onGo(line)}
          >
            Line {line}: {message}
          </button>{" "}
          <span className="text-muted-foreground">{hint}</span>
        </li>
      ))}
    </ul>
  );
}

/** Selects a line of the text. */
export function goToLine(area: HTMLTextAreaElement | null, line: number) {
  if (!area) return;
  const before = area.value
    .split("\n")
    .slice(0, line - 1)
    .join("\n");
  const start = line > 1 ? before.length + 1 : 0;
  const end = area.value.indexOf("\n", start);
  area.focus();
  area.setSelectionRange(start, end < 0 ? area.value.length : end);
}
