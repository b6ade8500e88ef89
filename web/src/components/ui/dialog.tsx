import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import type { ReactNode } from "react";
import { cn } from "@/lib/cn";

type Props = {
  open: boolean;
  onOpenChange: (open: boolean) => void;
  title: string;
  description?: string;
  className?: string;
  children: ReactNode;
};

export function Dialog({ open, onOpenChange, title, description, className, children }: Props) {
  return (
    <Radix.Root open={open} onOpenChange={onOpenChange}>
      <Radix.Portal>
        <Radix.Overlay className="fixed inset-0 z-40 bg-black/40" />
        <Radix.Content
          {...(description ? {} : { "aria-describedby": undefined })}
          className={cn(
            "fixed top-[12vh] left-1/2 z-50 max-h-[80vh] w-[calc(100vw-2rem)] max-w-lg -translate-x-1/2 overflow-y-auto",
            "rounded-xl border bg-popover p-5 shadow-xl",
            className,
          )}
        >
          <Radix.Title className="pr-8 text-base font-semibold">{title}</Radix.Title>
          {description && (
            <Radix.Description className="mt-1 text-muted-foreground">{description}</Radix.Description>
          )}
          <div className="mt-4">{children}</div>
          <Radix.Close
            aria-label="Close"
            className="absolute top-4 right-4 rounded p-1 text-muted-foreground hover:bg-muted"
          >
            <X className="size-4" />
          </Radix.Close>
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
