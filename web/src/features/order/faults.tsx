/** What a check's environment lacks: what is missing, what helps, and who can do it. */

import { TriangleAlert } from "lucide-react";
import { plainText, whoCan } from "@/lib/advice";

export type Fault = { what: string; remedy: string; who: string; command: string };

export function Faults({ faults, check }: { faults: Fault[]; check?: string }) {
  if (!faults.length) return null;
  return (
    <ul aria-label={`Missing for ${check}`} className="mt-2 flex flex-col gap-2 text-[13px]">
      {faults.map((fault) => (
        <li key={fault.what} className="flex items-start gap-2 rounded-md border border-warning/40 px-3 py-2">
          <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-warning" />
          <div className="min-w-0 break-words">
            <p className="font-medium first-letter:uppercase">{fault.what}</p>
            <p className="text-muted-foreground">
              {plainText(fault.remedy)} {whoCan(fault.who)}
            </p>
            {fault.command && <code className="mt-1 block font-mono text-xs break-all">{fault.command}</code>}
          </div>
        </li>
      ))}
    </ul>
  );
}
