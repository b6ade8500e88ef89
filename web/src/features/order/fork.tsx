/** The dialog that forks an order from a step, with other options. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { GitFork } from "lucide-react";
import { useState } from "react";
import { api, type OneOrder, unwrap } from "@/api/client";
import { keys } from "@/api/queries";
import { AgentPicker, ModelPicker } from "@/components/choices";
import { ErrorMessage } from "@/components/feedback";
import { SmallField } from "@/components/small-field";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { Textarea } from "@/components/ui/field";

type Props = { answer: OneOrder; step: string; onClose: () => void };

export function ForkDialog({ answer, step, onClose }: Props) {
  const order = answer.agent_work_order;
  const [prompt, setPrompt] = useState("");
  const [model, setModel] = useState(order.model);
  const [agent, setAgent] = useState(order.agent);
  const [budget, setBudget] = useState(order.budget_usd === null ? "" : String(order.budget_usd));
  const fork = useFork(order.agent_work_order_id, onClose);
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Fork from ${step}`}
      description="Starts a new order from what this one had done before that step. This order is not changed."
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          fork.mutate({
            from_step: step,
            initial_prompt: prompt.trim() || null,
            model,
            agent,
            budget_usd: budget ? Number(budget) : null,
          });
        }}
      >
        <Textarea
          aria-label="Task of the fork"
          placeholder={`Same task: ${answer.initial_prompt.slice(0, 160)}`}
          value={prompt}
          onChange={(event) => setPrompt(event.target.value)}
        />
        <div className="mt-3 flex flex-wrap gap-2">
          <ModelPicker value={model} onChange={setModel} />
          <AgentPicker value={agent} onChange={setAgent} />
          <SmallField
            label="Budget $"
            value={budget}
            onChange={(text) => setBudget(text.replace(/[^0-9.]/g, ""))}
            placeholder="none"
            inputMode="decimal"
          />
        </div>
        {fork.isError && <ErrorMessage fault={fork.error} />}
        <div className="mt-4 flex justify-end gap-2">
          <Button onClick={onClose}>Back</Button>
          <Button type="submit" look="primary" disabled={fork.isPending}>
            <GitFork /> Fork
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

type Choices = {
  from_step: string;
  initial_prompt: string | null;
  model: string;
  agent: string;
  budget_usd: number | null;
};

function useFork(id: string, onClose: () => void) {
  const navigate = useNavigate();
  const client = useQueryClient();
  return useMutation({
    meta: { shown: true },
    mutationFn: (body: Choices) =>
      unwrap(
        api.POST("/api/agent-work-orders/{agent_work_order_id}/fork", {
          params: { path: { agent_work_order_id: id } },
          body,
        }),
      ),
    onSuccess: (made) => {
      const forked = made.agent_work_order.agent_work_order_id;
      client.setQueryData(keys.part(forked, "order"), made);
      void client.invalidateQueries({ queryKey: keys.orders });
      onClose();
      void navigate({ to: "/orders/$id", params: { id: forked } });
    },
  });
}
