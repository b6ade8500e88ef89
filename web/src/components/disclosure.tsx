import { ChevronRight } from "lucide-react";
import { type ReactNode, useState } from "react";
import { cn } from "@/lib/cn";
import { Button } from "./ui/button";

type Props = { title: string; of?: string; initiallyOpen?: boolean; children: ReactNode };

/** Content behind a button that shows and hides it. `of` is read to those who do not see where it stands. */
export function Disclosure({ title, of, initiallyOpen = false, children }: Props) {
  const [open, setOpen] = useState(initiallyOpen);
  return (
    <div>
      <Button
        size="sm"
        look="quiet"
        className="mt-1 -ml-2"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        <ChevronRight className={cn("transition-transform", open && "rotate-90")} />
        {title}
        {of && <span className="sr-only"> of {of}</span>}
      </Button>
      {open && children}
    </div>
  );
}
