import { useState } from "react";
import type { Order } from "@/api/client";
import { Button } from "@/components/ui/button";
import { Input } from "@/components/ui/field";

type Props = { order: Order; busy: boolean; onRaise: (usd: number) => void };

/** The form that raises a budget that is used up. */
export function BudgetForm({ order, busy, onRaise }: Props) {
  const [budget, setBudget] = useState("");
  const spent = order.budget_usd ?? 0;
  return (
    <form
      className="flex gap-2"
      onSubmit={(event) => {
        event.preventDefault();
        onRaise(Number(budget));
      }}
    >
      <Input
        aria-label="New budget in dollars"
        inputMode="decimal"
        value={budget}
        placeholder={`more than $${spent}`}
        onChange={(event) => setBudget(event.target.value)}
        className="h-7 w-36 text-xs"
      />
      <Button size="sm" look="primary" type="submit" disabled={busy || !(Number(budget) > spent)}>
        Raise budget
      </Button>
    </form>
  );
}
