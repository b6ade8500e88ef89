import { type ComponentProps, useId } from "react";
import { cn } from "@/lib/cn";

type Props = Omit<ComponentProps<"input">, "onChange" | "value"> & {
  label: string;
  value: string;
  onChange: (value: string) => void;
  /** The validation error, shown below the field. */
  error?: string;
};

export function SmallField({ label, value, onChange, error, ...rest }: Props) {
  const note = useId();
  return (
    <div>
      <label
        className={cn(
          "flex h-8 items-center gap-1.5 rounded-md border bg-card px-2.5 text-xs focus-within:outline-2 focus-within:outline-ring",
          error && "border-destructive",
        )}
      >
        <span className="whitespace-nowrap text-muted-foreground">{label}</span>
        <input
          value={value}
          onChange={(event) => onChange(event.target.value)}
          aria-invalid={error ? true : undefined}
          aria-describedby={error ? note : undefined}
          className="w-16 min-w-0 flex-1 bg-transparent font-medium outline-none placeholder:font-normal placeholder:text-muted-foreground"
          {...rest}
        />
      </label>
      {error && <FieldError id={note}>{error}</FieldError>}
    </div>
  );
}

export const FieldError = ({ id, children }: { id: string; children: string }) => (
  <p id={id} role="alert" className="mt-1 text-xs text-destructive">
    {children}
  </p>
);
