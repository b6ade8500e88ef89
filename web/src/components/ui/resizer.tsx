/** A splitter, moved by pointer or arrow keys, that resizes the part on its right. */

type Props = { label: string; value: number; onChange: (percent: number) => void };

const LEAST = 25;
const MOST = 75;
const STEP = 2;
const within = (percent: number) => Math.round(Math.min(MOST, Math.max(LEAST, percent)));

export function Resizer({ label, value, onChange }: Props) {
  const drag = (event: React.PointerEvent<HTMLDivElement>) => {
    const frame = event.currentTarget.parentElement?.getBoundingClientRect();
    if (!frame?.width || !event.currentTarget.hasPointerCapture(event.pointerId)) return;
    onChange(within(((frame.right - event.clientX) / frame.width) * 100));
  };
  const press = (event: React.KeyboardEvent) => {
    const by = { ArrowLeft: STEP, ArrowRight: -STEP, Home: 100, End: -100 }[event.key];
    if (by === undefined) return;
    event.preventDefault();
    onChange(within(value + by));
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule cannot be moved
    <div
      role="separator"
      aria-label={label}
      aria-orientation="vertical"
      aria-valuenow={value}
      aria-valuemin={LEAST}
      aria-valuemax={MOST}
      tabIndex={0}
      onPointerDown={(event) => event.currentTarget.setPointerCapture(event.pointerId)}
      onPointerMove={drag}
      onKeyDown={press}
      className="w-1.5 shrink-0 cursor-col-resize touch-none border-l hover:bg-primary/30 focus-visible:bg-primary/40 max-lg:hidden"
    />
  );
}
