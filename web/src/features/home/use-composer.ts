/** The state of the composer. Its text is kept as a draft, and a submission takes effect once. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { api, type NewOrder, problemOf, unwrap } from "@/api/client";
import { keys } from "@/api/queries";
import { useModels } from "@/components/choices";
import { useDraft } from "@/lib/draft";
import { useKnownRepositories, usePreferences } from "@/lib/preferences";
import { type Fields, faultsOf, orderOf, refusedFields } from "./form";
import { useSample } from "./sample";

export function useComposer() {
  const [known] = useKnownRepositories();
  const [preferences] = usePreferences();
  const [sample] = useSample();
  const { fallback } = useModels();
  const [repository, setRepository] = useDraft("repository", known[0]?.url ?? "");
  const [task, setTask] = useDraft("task", "");
  const [issue, setIssue] = useDraft("issue", "");
  const [branch, setBranch] = useDraft("branch", "");
  const [picked, setModel] = useState("");
  const [tried, setTried] = useState(false);
  const submit = useSubmit();

  const ofSample = sample?.repository_url === repository.trim() ? sample.model : "";
  const model = picked || ofSample || preferences.model || fallback;
  const fields: Fields = { repository, task, issue, branch, budget: preferences.budget_usd };
  const wrong = faultsOf(fields, model);
  const refused = submit.isError ? refusedFields(problemOf(submit.error), fields) : {};
  // Empty fields are reported only after the first try.
  const { issue: badIssue, budget: badBudget } = wrong;
  const faults = { ...refused, ...(tried ? wrong : { issue: badIssue, budget: badBudget }) };

  const send = () => {
    setTried(true);
    if (Object.keys(wrong).length || submit.isPending) return;
    const { workflow_type, sandbox_type, agent } = preferences;
    submit.mutate(
      { ...orderOf(fields), workflow_type, sandbox_type, priority: 0, model, agent: agent || null },
      {
        onSuccess: () => {
          for (const clear of [setTask, setIssue, setBranch]) clear("");
        },
      },
    );
  };
  /** Editing a field clears the server's errors. */
  const edit = (set: (text: string) => void) => (text: string) => {
    if (submit.isError) submit.reset();
    set(text);
  };
  return {
    fields,
    model,
    faults,
    problem: submit.isError && !Object.keys(refused).length ? submit.error : null,
    isSending: submit.isPending,
    send,
    setRepository: edit(setRepository),
    setTask: edit(setTask),
    setIssue: edit(setIssue),
    setBranch: edit(setBranch),
    setModel: edit(setModel),
  };
}

/** Creates the order and opens its page. The idempotency key makes a repeat after a lost response safe. */
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
      return unwrap(api.POST("/api/agent-work-orders", { body, params: { header } }));
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
