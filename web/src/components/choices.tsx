/** The pickers of an order's options, each choice with what it offers and what it still needs. */

import { useQuery } from "@tanstack/react-query";
import { agentsQuery, modelsQuery, sandboxesQuery, workflowsQuery } from "@/api/queries";
import { plainText } from "@/lib/advice";
import { count, workflowName } from "@/lib/format";
import { type Choice, Picker } from "./ui/picker";

type Props = { value: string; onChange: (value: string) => void; disabled?: boolean; className?: string };

const UNAVAILABLE = "Not available on this server.";

const price = (usd: number | null) => (usd === null ? "?" : usd === 0 ? "free" : `$${usd}`);

/** A model that works on the sample repository only is listed only where it is already chosen. */
export function useModels(value = ""): { choices: Choice[]; fallback: string } {
  const { data } = useQuery(modelsQuery);
  const models = (data?.models ?? []).filter(({ name, sample_only }) => !sample_only || name === value);
  const choices = models
    .map((model) => ({
      value: model.name,
      label: model.name.slice(model.provider.length + 1) || model.name,
      group: model.provider,
      chosen: model.name,
      needs: model.ready ? "" : plainText(model.needs) || UNAVAILABLE,
      note: [
        model.context_window && `${count(model.context_window)} context`,
        model.input_usd_per_million !== null &&
          `${price(model.input_usd_per_million)} in, ${price(model.output_usd_per_million)} out per million`,
      ]
        .filter(Boolean)
        .join(" · "),
    }))
    .sort((a, b) => Number(Boolean(a.needs)) - Number(Boolean(b.needs)));
  const fallback =
    data?.default_model ?? models.find(({ ready, sample_only }) => ready && !sample_only)?.name ?? "";
  return { choices, fallback };
}

export function ModelPicker({ value, label = "Model", ...rest }: Props & { label?: string }) {
  const { choices, fallback } = useModels(value);
  return (
    <Picker label={label} choices={choices} value={value || fallback} placeholder="none ready" {...rest} />
  );
}

export function AgentPicker({ value, ...rest }: Props) {
  const { data } = useQuery(agentsQuery);
  const choices = (data?.agents ?? []).map(({ name, version, providers, ready, needs }) => ({
    value: name,
    label: name,
    note: [version, `works with ${providers.join(", ")}`].filter(Boolean).join(" · "),
    needs: ready ? "" : plainText(needs) || "Not installed on this server.",
  }));
  return <Picker label="Agent" choices={choices} value={value || (choices[0]?.value ?? "")} {...rest} />;
}

export function WorkflowPicker(props: Props) {
  const { data } = useQuery(workflowsQuery);
  const choices = (data?.workflows ?? [])
    .filter(({ name, alias_of }) => !alias_of && !/_(answer|follow_up)$/.test(name))
    .map(({ name, description, ready, needs }) => ({
      value: name,
      label: workflowName(name),
      note: description,
      needs: ready ? "" : plainText(needs) || UNAVAILABLE,
    }));
  return <Picker label="Workflow" choices={choices} {...props} />;
}

const SANDBOXES: Record<string, string> = {
  git_worktree: "Worktree of a shared clone: fast to create",
  git_branch: "Separate clone: slower to create, fully independent",
};

export function SandboxPicker(props: Props) {
  const { data } = useQuery(sandboxesQuery);
  const choices = (data?.sandboxes ?? []).map(({ sandbox_type, isolation, ready, needs }) => ({
    value: sandbox_type,
    label: sandbox_type.replace("_", " "),
    note: [SANDBOXES[sandbox_type], isolation].filter(Boolean).join(" · "),
    needs: ready ? "" : plainText(needs) || UNAVAILABLE,
  }));
  return <Picker label="Sandbox" choices={choices} {...props} />;
}
