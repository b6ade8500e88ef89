/** What a check found missing, each with its remedy, as a button where one can do it. */

import { CircleAlert, Info } from "lucide-react";
import type { EnvironmentFinding, EnvironmentReport } from "@/api/client";
import { Card } from "@/components/page";
import { Button } from "@/components/ui/button";
import { plainText, whoCan } from "@/lib/advice";
import { cn } from "@/lib/cn";
import type { EnvironmentActions } from "./use-environment";

type Props = { report: EnvironmentReport; actions: EnvironmentActions; disabled: boolean };

export function Findings({ report, ...rest }: Props) {
  if (!report.findings.length) return null;
  return (
    <section aria-labelledby="findings-title">
      <h2 id="findings-title" className="mb-2 font-medium">
        Findings
      </h2>
      <Card className="divide-y">
        {report.findings.map((finding) => (
          <Finding key={finding.what} finding={finding} order={report.agent_work_order_id} {...rest} />
        ))}
      </Card>
    </section>
  );
}

type FindingProps = Omit<Props, "report"> & { finding: EnvironmentFinding; order: string };

function Finding({ finding, order, actions, disabled }: FindingProps) {
  const Icon = finding.blocks ? CircleAlert : Info;
  return (
    <div className="flex items-start gap-3 p-4">
      <Icon
        aria-hidden
        className={cn("mt-0.5 size-4 shrink-0", finding.blocks ? "text-warning" : "text-muted-foreground")}
      />
      <div className="min-w-0 flex-1">
        <p className="font-medium break-words">{finding.what}</p>
        <p className="text-[13px] break-words text-muted-foreground">
          {plainText(finding.remedy)} {whoCan(finding.who ?? (plainText(finding.remedy) ? "" : "operator"))}
        </p>
        {finding.command && (
          <code className="mt-1.5 inline-block rounded bg-muted px-1.5 py-0.5 font-mono text-xs [overflow-wrap:anywhere]">
            {finding.command}
          </code>
        )}
        {finding.failed_command && (
          <p className="mt-1 text-xs [overflow-wrap:anywhere] text-muted-foreground">
            {"Shown by "}
            <code className="font-mono">{finding.failed_command}</code>
          </p>
        )}
      </div>
      <Remedy finding={finding} order={order} actions={actions} disabled={disabled} />
    </div>
  );
}

function Remedy({ finding: { action, host }, order, actions, disabled }: FindingProps) {
  if (action === "allow_host" && host) {
    const allowed = actions.allow.isSuccess && actions.allow.variables.host === host;
    return (
      <Button
        size="sm"
        disabled={disabled || actions.allow.isPending || allowed}
        onClick={() => actions.allow.mutate({ order, host })}
      >
        {allowed ? "Allowed" : "Allow"}
      </Button>
    );
  }
  if (action === "check_again") {
    return (
      <Button size="sm" disabled={disabled} onClick={() => actions.check.mutate({})}>
        Check again
      </Button>
    );
  }
  if (action === "edit_definition") {
    return (
      <Button size="sm" onClick={() => document.getElementById("definition")?.focus()}>
        Edit
      </Button>
    );
  }
  return null;
}
