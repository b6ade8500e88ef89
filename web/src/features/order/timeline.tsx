/** The virtualized timeline of an order: only visible rows are rendered. */

import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowDown } from "lucide-react";
import { type ReactNode, useCallback, useLayoutEffect, useMemo, useRef, useState } from "react";
import { Button } from "@/components/ui/button";
import type { Item } from "@/events/items";
import { rowsOf } from "@/events/rows";
import { ItemView } from "./item-view";

const NEAR_PX = 80;
const GUESS_PX = 44;

type Props = { id: string; items: Item[]; before: ReactNode; after: ReactNode };

export function Timeline({ id, items, before, after }: Props) {
  const rows = useMemo(() => rowsOf(items), [items]);
  const box = useRef<HTMLDivElement>(null);
  const stuck = useRef(true);
  const [away, setAway] = useState(false);
  const count = rows.length + 2;
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => box.current,
    estimateSize: () => GUESS_PX,
    getItemKey: (index) =>
      index === 0 ? "before" : index === count - 1 ? "after" : (rows[index - 1]?.key ?? index),
    overscan: 12,
  });
  const size = virtual.getTotalSize();

  const toEnd = useCallback(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever the content grew
  useLayoutEffect(() => {
    if (stuck.current) toEnd();
  }, [size, items, toEnd]);

  const scrolled = () => {
    const element = box.current;
    if (!element) return;
    stuck.current = element.scrollHeight - element.scrollTop - element.clientHeight < NEAR_PX;
    setAway(!stuck.current);
  };

  return (
    <div className="relative min-h-0 flex-1">
      <div
        ref={box}
        onScroll={scrolled}
        role="log"
        data-count={count}
        aria-label="Timeline"
        aria-live="off"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        className="h-full overflow-y-auto overscroll-contain [overflow-anchor:none]"
      >
        <div className="relative w-full" style={{ height: size }}>
          {virtual.getVirtualItems().map((row) => {
            const item = rows[row.index - 1];
            return (
              <div
                key={row.key}
                data-index={row.index}
                ref={virtual.measureElement}
                className="absolute top-0 left-0 w-full"
                style={{ transform: `translateY(${row.start}px)` }}
              >
                <div className="mx-auto w-full max-w-3xl px-4 sm:px-6">
                  {row.index === 0
                    ? before
                    : row.index === count - 1
                      ? after
                      : item && <ItemView id={id} item={item} />}
                </div>
              </div>
            );
          })}
        </div>
      </div>
      {away && (
        <Button
          size="sm"
          className="absolute bottom-3 left-1/2 -translate-x-1/2 rounded-full shadow-md"
          onClick={() => {
            stuck.current = true;
            toEnd();
          }}
        >
          <ArrowDown /> Jump to latest
        </Button>
      )}
    </div>
  );
}
