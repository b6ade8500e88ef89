import type { ComponentProps } from "react";
import { cn } from "@/lib/cn";

const LOOK =
  "w-full rounded-md border border-input bg-card px-3 text-sm placeholder:text-muted-foreground disabled:opacity-60";

export const Input = ({ className, ...rest }: ComponentProps<"input">) => (
  <input className={cn(LOOK, "h-9", className)} {...rest} />
);

export const Textarea = ({ className, ...rest }: ComponentProps<"textarea">) => (
  <textarea className={cn(LOOK, "min-h-20 py-2", className)} {...rest} />
);
