import type { ReactNode } from "react";

type Props = { title: string; note: string; id?: string; children: ReactNode };

export function Section({ title, note, id, children }: Props) {
  return (
    <section id={id} className="mb-8 scroll-mt-6">
      <h2 className="font-medium">{title}</h2>
      <p className="mb-3 text-[13px] text-muted-foreground">{note}</p>
      {children}
    </section>
  );
}
