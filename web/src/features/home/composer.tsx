/** The form for a new order. Everything but the task has a default. */

import { ArrowUp, LoaderCircle } from "lucide-react";
import { useState } from "react";
import { AgentPicker, ModelPicker, SandboxPicker, WorkflowPicker } from "@/components/choices";
import { ErrorMessage } from "@/components/feedback";
import { Card } from "@/components/page";
import { FieldError, SmallField } from "@/components/small-field";
import { Button } from "@/components/ui/button";
import { cn } from "@/lib/cn";
import { OPTION, OPTIONS, WIDE } from "@/lib/options";
import { type KnownRepository, useKnownRepositories, usePreferences } from "@/lib/preferences";
import { RepositoryField } from "./repository-field";
import { RepositoryState } from "./repository-state";
import { useComposer } from "./use-composer";

export function Composer() {
  const form = useComposer();
  const { fields, faults } = form;
  const [known] = useKnownRepositories();
  const [preferences, prefer] = usePreferences();
  const [verified, setVerified] = useState<KnownRepository | null>(null);
  const connected = verified ?? known.find(({ url }) => url === fields.repository) ?? null;

  return (
    <Card className="p-4 shadow-sm sm:p-5">
      <RepositoryField
        value={fields.repository}
        onChange={form.setRepository}
        error={faults.repository}
        verified={connected}
        onVerified={setVerified}
      />
      <TaskField value={fields.task} onChange={form.setTask} onSend={form.send} error={faults.task} />
      <div className={cn("mt-3", OPTIONS)}>
        <WorkflowPicker
          value={preferences.workflow_type}
          onChange={(workflow_type) => prefer({ workflow_type })}
          className={cn(OPTION, WIDE)}
        />
        <div className={WIDE}>
          <ModelPicker value={form.model} onChange={form.setModel} className={OPTION} />
          {faults.model && <FieldError id="model-fault">{faults.model}</FieldError>}
        </div>
        <AgentPicker value={preferences.agent} onChange={(agent) => prefer({ agent })} className={OPTION} />
        <SandboxPicker
          value={preferences.sandbox_type}
          onChange={(value) => prefer({ sandbox_type: value as typeof preferences.sandbox_type })}
          className={OPTION}
        />
        <SmallField
          label="Branch"
          value={fields.branch}
          onChange={form.setBranch}
          placeholder={connected?.branch ?? "default"}
          error={faults.branch}
        />
        <SmallField
          label="Issue #"
          value={fields.issue}
          onChange={form.setIssue}
          placeholder="none"
          inputMode="numeric"
          error={faults.issue}
        />
        <SmallField
          label="Budget $"
          value={fields.budget}
          onChange={(budget_usd) => prefer({ budget_usd })}
          placeholder="none"
          inputMode="decimal"
          error={faults.budget}
        />
        <Button
          look="primary"
          className="col-start-[-2] h-8 justify-self-end"
          disabled={form.isSending}
          onClick={form.send}
        >
          {form.isSending ? <LoaderCircle className="animate-spin" /> : <ArrowUp />}
          Start
        </Button>
      </div>
      <div className="mt-3">
        <RepositoryState url={fields.repository.trim()} connected={Boolean(connected)} />
      </div>
      {form.problem && <ErrorMessage fault={form.problem} />}
    </Card>
  );
}

type TaskProps = { value: string; onChange: (task: string) => void; onSend: () => void; error?: string };

function TaskField({ value, onChange, onSend, error }: TaskProps) {
  return (
    <>
      <label htmlFor="task" className="sr-only">
        Task
      </label>
      <textarea
        id="task"
        data-task
        data-slash
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault();
            onSend();
          }
        }}
        placeholder="Describe the bug or the feature, and how to tell that it works."
        rows={5}
        aria-invalid={error ? true : undefined}
        aria-describedby={error ? "task-fault" : undefined}
        className={cn(
          "w-full resize-y rounded-md border border-input bg-background px-3 py-2.5 text-[15px] leading-relaxed placeholder:text-muted-foreground",
          error && "border-destructive",
        )}
      />
      {error && <FieldError id="task-fault">{error}</FieldError>}
    </>
  );
}
