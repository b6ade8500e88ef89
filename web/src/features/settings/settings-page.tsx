import { useQuery } from "@tanstack/react-query";
import { CircleCheck, CircleDashed } from "lucide-react";
import { agentsQuery, healthQuery, modelsQuery, sandboxesQuery, settingsQuery } from "@/api/queries";
import { AgentPicker, ModelPicker, SandboxPicker, WorkflowPicker } from "@/components/choices";
import { SkeletonRows } from "@/components/feedback";
import { Card, Page } from "@/components/page";
import { SmallField } from "@/components/small-field";
import { Button } from "@/components/ui/button";
import { cn } from "@/lib/cn";
import { usePreferences } from "@/lib/preferences";
import { chooseTheme, type Theme, useTheme } from "@/lib/theme";
import { Section } from "./section";
import { Spending } from "./spending";

export function SettingsPage() {
  return (
    <Page title="Settings">
      <Defaults />
      <Spending />
      <Appearance />
      <Installed />
      <Server />
    </Page>
  );
}

function Defaults() {
  const [preferences, prefer] = usePreferences();
  return (
    <Section title="New orders" note="What the composer begins with. Kept in this browser.">
      <Card className="flex flex-wrap gap-2 p-4">
        <ModelPicker value={preferences.model} onChange={(model) => prefer({ model })} />
        <AgentPicker value={preferences.agent} onChange={(agent) => prefer({ agent })} />
        <WorkflowPicker
          value={preferences.workflow_type}
          onChange={(workflow_type) => prefer({ workflow_type })}
        />
        <SandboxPicker
          value={preferences.sandbox_type}
          onChange={(value) => prefer({ sandbox_type: value as typeof preferences.sandbox_type })}
        />
        <SmallField
          label="Budget $"
          value={preferences.budget_usd}
          onChange={(budget_usd) => prefer({ budget_usd: budget_usd.replace(/[^0-9.]/g, "") })}
          placeholder="none"
          inputMode="decimal"
        />
      </Card>
    </Section>
  );
}

const THEMES: [Theme, string][] = [
  ["system", "As the system"],
  ["light", "Light"],
  ["dark", "Dark"],
];

function Appearance() {
  const chosen = useTheme();
  return (
    <Section title="Theme" note="Light, dark, or as the system has it.">
      <div className="flex gap-2">
        {THEMES.map(([theme, name]) => (
          <Button
            key={theme}
            aria-pressed={theme === chosen}
            onClick={() => chooseTheme(theme)}
            className={cn(theme === chosen && "border-primary")}
          >
            {name}
          </Button>
        ))}
      </div>
    </Section>
  );
}

type Line = { name: string; ready: boolean; needs: string; note?: string };

function Installed() {
  const agents = useQuery(agentsQuery);
  const sandboxes = useQuery(sandboxesQuery);
  const models = useQuery(modelsQuery);
  const health = useQuery(healthQuery);
  const providers = Map.groupBy(models.data?.models ?? [], ({ provider }) => provider);
  const lines: Line[] = [
    ...(agents.data?.agents ?? []).map(({ name, version, ready, needs }) => ({
      name: `agent ${name}`,
      ready,
      needs,
      note: version,
    })),
    ...(sandboxes.data?.sandboxes ?? []).map(({ sandbox_type, isolation, ready, needs }) => ({
      name: `sandbox ${sandbox_type}`,
      ready,
      needs,
      note: isolation,
    })),
    ...[...providers].map(([provider, inside]) => ({
      name: `models of ${provider}`,
      ready: inside.some(({ ready }) => ready),
      needs: inside.find(({ needs }) => needs)?.needs ?? "",
      note: `${inside.length}`,
    })),
  ];
  return (
    <Section
      title="What is installed"
      note={`Journeyman ${health.data?.version ?? ""}. Isolation: ${health.data?.isolation ?? "…"}.`}
    >
      {!lines.length && <SkeletonRows rows={3} className="h-9" />}
      <Card className="divide-y">
        {lines.map(({ name, ready, needs, note }) => (
          <div key={name} className="flex items-start gap-2.5 px-4 py-2 text-[13px]">
            {ready ? (
              <CircleCheck aria-label="ready" className="mt-0.5 size-4 shrink-0 text-success" />
            ) : (
              <CircleDashed aria-label="not ready" className="mt-0.5 size-4 shrink-0 text-muted-foreground" />
            )}
            <span className="w-44 shrink-0">{name}</span>
            <span className="min-w-0 text-muted-foreground">{ready ? note : needs}</span>
          </div>
        ))}
      </Card>
    </Section>
  );
}

function Server() {
  const { data } = useQuery(settingsQuery);
  return (
    <Section
      title="Server"
      note="From its environment and journeyman.toml in its home; a change takes a restart. Secrets are never shown."
    >
      {!data && <SkeletonRows rows={6} className="h-9" />}
      {data && (
        <Card className="divide-y">
          {data.settings.map(({ name, meaning, is_secret, is_set, value }) => (
            <div key={name} className="px-4 py-2 text-[13px]">
              <div className="flex flex-wrap items-baseline gap-x-3">
                <code className="font-mono text-xs">{name}</code>
                <span
                  className={cn(
                    "ml-auto font-mono text-xs break-all",
                    is_set ? "text-foreground" : "text-muted-foreground",
                  )}
                >
                  {is_secret ? (is_set ? "set" : "not set") : (value ?? "not set")}
                </span>
              </div>
              <p className="text-xs text-muted-foreground">{meaning}</p>
            </div>
          ))}
        </Card>
      )}
    </Section>
  );
}
