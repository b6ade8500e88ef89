import type { ReactNode } from "react";

type Props = { title: string; note: string; children: ReactNode };

export function Section({ title, note, children }: Props) {
  return (
    <section className="mb-8">
      <h2 className="font-medium">{title}</h2>
      <p className="mb-3 text-[13px] text-muted-foreground">{note}</p>
      {children}
    </section>
  );
}
