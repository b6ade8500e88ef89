/** Hand over work: where, what, and by whom. Everything but the task has a default. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { ArrowUp, LoaderCircle } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { api, asked, type NewOrder } from "@/api/client";
import { keys } from "@/api/queries";
import { AgentPicker, ModelPicker, SandboxPicker, useModels, WorkflowPicker } from "@/components/choices";
import { Trouble } from "@/components/feedback";
import { Card } from "@/components/page";
import { SmallField } from "@/components/small-field";
import { Button } from "@/components/ui/button";
import { type KnownRepository, useKnownRepositories, usePreferences } from "@/lib/preferences";
import { RepositoryField } from "./repository-field";

export type Draft = { repository_url: string; prompt: string; model?: string };

export function Composer({ draft }: { draft: Draft }) {
  const [known] = useKnownRepositories();
  const [preferences, prefer] = usePreferences();
  const { fallback } = useModels();
  const [repository, setRepository] = useState(draft.repository_url || known[0]?.url || "");
  const [verified, setVerified] = useState<KnownRepository | null>(null);
  const [prompt, setPrompt] = useState(draft.prompt);
  const [model, setModel] = useState(draft.model ?? "");
  const [branch, setBranch] = useState("");
  const submit = useSubmit();
  const chosen = model || preferences.model || fallback;
  const ready = repository.trim() && prompt.trim() && chosen && !submit.isPending;

  useEffect(() => {
    if (draft.repository_url) setRepository(draft.repository_url);
    if (draft.prompt) setPrompt(draft.prompt);
    if (draft.model) setModel(draft.model);
  }, [draft]);

  const send = () => {
    if (!ready) return;
    submit.mutate({
      repository_url: repository.trim(),
      initial_prompt: prompt,
      workflow_type: preferences.workflow_type,
      sandbox_type: preferences.sandbox_type,
      priority: 0,
      model: chosen,
      agent: preferences.agent || null,
      base_branch: branch.trim() || null,
      budget_usd: preferences.budget_usd ? Number(preferences.budget_usd) : null,
    });
  };

  return (
    <Card className="p-4 shadow-sm sm:p-5">
      <RepositoryField
        value={repository}
        onChange={setRepository}
        verified={verified ?? known.find(({ url }) => url === repository) ?? null}
        onVerified={setVerified}
      />
      <label htmlFor="task" className="sr-only">
        Task
      </label>
      <textarea
        id="task"
        data-task
        data-slash
        value={prompt}
        onChange={(event) => setPrompt(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault();
            send();
          }
        }}
        placeholder="Say what is wrong or wanted, and how you would see that it works."
        rows={5}
        className="w-full resize-y rounded-md border border-input bg-background px-3 py-2.5 text-[15px] leading-relaxed placeholder:text-muted-foreground"
      />
      <div className="mt-3 flex flex-wrap items-center gap-2">
        <WorkflowPicker
          value={preferences.workflow_type}
          onChange={(workflow_type) => prefer({ workflow_type })}
        />
        <ModelPicker value={chosen} onChange={setModel} />
        <AgentPicker value={preferences.agent} onChange={(agent) => prefer({ agent })} />
        <SandboxPicker
          value={preferences.sandbox_type}
          onChange={(value) => prefer({ sandbox_type: value as typeof preferences.sandbox_type })}
        />
        <SmallField
          label="Branch"
          value={branch}
          onChange={setBranch}
          placeholder={verified?.branch ?? "default"}
        />
        <SmallField
          label="Budget $"
          value={preferences.budget_usd}
          onChange={(budget_usd) => prefer({ budget_usd: budget_usd.replace(/[^0-9.]/g, "") })}
          placeholder="none"
          inputMode="decimal"
        />
        <Button look="primary" className="ml-auto" disabled={!ready} onClick={send}>
          {submit.isPending ? <LoaderCircle className="animate-spin" /> : <ArrowUp />}
          Start
        </Button>
      </div>
      {submit.isError && <Trouble fault={submit.error} />}
    </Card>
  );
}

/** Makes the order and goes to its page. The same request sent again, after a lost answer, is the same order. */
function useSubmit() {
  const navigate = useNavigate();
  const client = useQueryClient();
  const sent = useRef({ text: "", key: "" });
  return useMutation({
    meta: { shown: true },
    mutationFn: (body: NewOrder) => {
      const text = JSON.stringify(body);
      if (sent.current.text !== text) sent.current = { text, key: crypto.randomUUID() };
      const header = { "idempotency-key": sent.current.key };
      return asked(api.POST("/api/agent-work-orders", { body, params: { header } }));
    },
    onSuccess: (made) => {
      sent.current = { text: "", key: "" };
      const id = made.agent_work_order.agent_work_order_id;
      client.setQueryData(keys.part(id, "order"), made);
      void client.invalidateQueries({ queryKey: keys.orders });
      void navigate({ to: "/orders/$id", params: { id } });
    },
  });
}
