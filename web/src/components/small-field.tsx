import type { ComponentProps } from "react";

type Props = Omit<ComponentProps<"input">, "onChange" | "value"> & {
  label: string;
  value: string;
  onChange: (value: string) => void;
};

export function SmallField({ label, value, onChange, ...rest }: Props) {
  return (
    <label className="inline-flex h-8 items-center gap-1.5 rounded-md border bg-card px-2.5 text-xs focus-within:outline-2 focus-within:outline-ring">
      <span className="whitespace-nowrap text-muted-foreground">{label}</span>
      <input
        value={value}
        onChange={(event) => onChange(event.target.value)}
        className="w-16 bg-transparent font-medium outline-none placeholder:font-normal placeholder:text-muted-foreground"
        {...rest}
      />
    </label>
  );
}
