import { Slot } from "radix-ui";
import type { ComponentProps } from "react";
import { cn } from "@/lib/cn";

const LOOKS = {
  primary: "bg-primary text-primary-foreground hover:bg-primary/90 shadow-xs",
  outline: "border bg-card text-foreground hover:bg-muted",
  ghost: "text-foreground hover:bg-muted",
  quiet: "text-muted-foreground hover:bg-muted hover:text-foreground",
  danger: "border border-destructive/40 text-destructive hover:bg-destructive/10",
};
const SIZES = { sm: "h-7 px-2.5 text-xs gap-1.5", md: "h-9 px-3.5 gap-2", icon: "size-8 justify-center" };

export type ButtonProps = ComponentProps<"button"> & {
  look?: keyof typeof LOOKS;
  size?: keyof typeof SIZES;
  asChild?: boolean;
};

export function Button({ look = "outline", size = "md", asChild, className, ...rest }: ButtonProps) {
  const Element = asChild ? Slot.Root : "button";
  return (
    <Element
      type={asChild ? undefined : "button"}
      className={cn(
        "inline-flex shrink-0 items-center justify-center rounded-md font-medium whitespace-nowrap transition-colors",
        "disabled:pointer-events-none disabled:opacity-55 [&_svg]:size-4 [&_svg]:shrink-0",
        LOOKS[look],
        SIZES[size],
        className,
      )}
      {...rest}
    />
  );
}
