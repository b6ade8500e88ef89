import type { ReactNode } from "react";
import { cn } from "@/lib/cn";

type Props = { title: string; note?: ReactNode; actions?: ReactNode; wide?: boolean; children: ReactNode };

/** A page that scrolls as a whole, with its title at the top. */
export function Page({ title, note, actions, wide, children }: Props) {
  return (
    <div className="h-full overflow-y-auto">
      <div className={cn("mx-auto w-full px-4 py-6 sm:px-8 sm:py-8", wide ? "max-w-6xl" : "max-w-4xl")}>
        <header className="mb-6 flex flex-wrap items-start justify-between gap-3">
          <div>
            <h1 className="text-xl font-semibold tracking-tight">{title}</h1>
            {note && <p className="mt-1 text-muted-foreground">{note}</p>}
          </div>
          {actions}
        </header>
        {children}
      </div>
    </div>
  );
}

export function Card({ children, className }: { children: ReactNode; className?: string }) {
  return <section className={cn("rounded-lg border bg-card", className)}>{children}</section>;
}
