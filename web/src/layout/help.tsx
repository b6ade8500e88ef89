import { Dialog } from "@/components/ui/dialog";
import { MAP } from "./keys";

/** Names of keys whose symbol is hard to read. */
const NAMES: Record<string, string> = { ".": "Period", ",": "Comma" };

export const Kbd = ({ children }: { children: string }) => (
  <span className="inline-flex gap-1">
    {children.split(" ").map((key) =>
      key === "…" ? (
        <span key={key}>…</span>
      ) : (
        <kbd key={key} className="rounded border bg-muted px-1.5 font-mono text-[11px] text-muted-foreground">
          {NAMES[key] ?? key}
        </kbd>
      ),
    )}
  </span>
);

export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog open onOpenChange={onClose} title="Keyboard shortcuts">
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2">
        {MAP.map(([key, meaning]) => (
          <div key={key} className="contents">
            <dt>
              <Kbd>{key}</Kbd>
            </dt>
            <dd className="text-muted-foreground">{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
