import { AgentPicker, ModelPicker, SandboxPicker, WorkflowPicker } from "@/components/choices";
import { Card } from "@/components/page";
import { SmallField } from "@/components/small-field";
import { budgetFault } from "@/lib/amount";
import { cn } from "@/lib/cn";
import { OPTION, OPTIONS, WIDE } from "@/lib/options";
import { usePreferences } from "@/lib/preferences";
import { Section } from "./section";

export function Defaults() {
  const [preferences, prefer] = usePreferences();
  return (
    <Section title="New orders" note="Defaults for new orders, saved in this browser.">
      <Card className={cn("p-4", OPTIONS)}>
        <ModelPicker
          value={preferences.model}
          onChange={(model) => prefer({ model })}
          className={cn(OPTION, WIDE)}
        />
        <AgentPicker value={preferences.agent} onChange={(agent) => prefer({ agent })} className={OPTION} />
        <WorkflowPicker
          value={preferences.workflow_type}
          onChange={(workflow_type) => prefer({ workflow_type })}
          className={cn(OPTION, WIDE)}
        />
        <SandboxPicker
          value={preferences.sandbox_type}
          onChange={(value) => prefer({ sandbox_type: value as typeof preferences.sandbox_type })}
          className={OPTION}
        />
        <SmallField
          label="Budget $"
          value={preferences.budget_usd}
          onChange={(budget_usd) => prefer({ budget_usd })}
          placeholder="none"
          inputMode="decimal"
          error={budgetFault(preferences.budget_usd)}
        />
      </Card>
    </Section>
  );
}
