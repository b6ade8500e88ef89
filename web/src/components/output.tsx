import { useState } from "react";
import { pieces } from "@/lib/ansi";
import { cn } from "@/lib/cn";
import { Button } from "./ui/button";

const SHOWN = 20_000;

/** Output of a program: monospaced, with its ANSI colours, truncated until it is expanded. */
export function Output({ text, className, label }: { text: string; className?: string; label: string }) {
  const [whole, setWhole] = useState(false);
  const cut = !whole && text.length > SHOWN;
  return (
    <div>
      <section
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        aria-label={label}
        className={cn("max-h-96 overflow-auto rounded-md border bg-muted/60", className)}
      >
        <pre className="p-3 font-mono text-xs leading-relaxed break-words whitespace-pre-wrap">
          {pieces(cut ? text.slice(0, SHOWN) : text).map((piece, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text never move
            <span key={index} className={piece.className}>
              {piece.text}
            </span>
          ))}
        </pre>
      </section>
      {cut && (
        <Button size="sm" look="quiet" className="mt-1" onClick={() => setWhole(true)}>
          Show all {Math.ceil(text.length / 1000)} kB
        </Button>
      )}
    </div>
  );
}
