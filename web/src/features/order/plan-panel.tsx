import { Circle, CircleCheck, ListChecks, LoaderCircle } from "lucide-react";
import type { Order } from "@/api/client";
import { Empty } from "@/components/feedback";
import { Prose } from "@/components/prose";
import type { Plan, Subtask } from "@/events/transcript";
import { cn } from "@/lib/cn";

const SIGNS: Record<Subtask["state"], { icon: typeof Circle; look: string; word: string }> = {
  waiting: { icon: Circle, look: "text-muted-foreground", word: "waiting" },
  running: {
    icon: LoaderCircle,
    look: "text-info animate-spin [animation-duration:2s]",
    word: "in progress",
  },
  done: { icon: CircleCheck, look: "text-success", word: "done" },
};

export function PlanPanel({ order, plan }: { order: Order; plan: Plan | null }) {
  if (!plan) {
    const planned = order.workflow_type.includes("plan");
    return (
      <Empty icon={ListChecks} title={planned ? "No plan yet" : "No plan in this workflow"}>
        {planned
          ? "It appears once the agent has looked at the repository. Subtasks are ticked off as they are done."
          : "The agent works on the task as a whole."}
      </Empty>
    );
  }
  return (
    <div className="p-5">
      <ol className="flex flex-col gap-2.5">
        {plan.subtasks.map(({ title, state }, index) => {
          const {
            icon: Icon,
            look,
            word,
          } = SIGNS[order.status === "running" || state !== "running" ? state : "waiting"];
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a plan keep their places
            <li key={index} className="flex items-start gap-2.5">
              <Icon aria-hidden className={cn("mt-0.5 size-4 shrink-0", look)} />
              <span className={cn("flex-1", state === "done" && "text-muted-foreground")}>
                {title}
                <span className="sr-only">, {word}</span>
              </span>
            </li>
          );
        })}
      </ol>
      {plan.reasoning && (
        <div className="mt-5 border-t pt-4 text-[13px] text-muted-foreground">
          <Prose text={plan.reasoning} />
        </div>
      )}
    </div>
  );
}
