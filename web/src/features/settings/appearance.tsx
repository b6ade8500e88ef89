import { Button } from "@/components/ui/button";
import { cn } from "@/lib/cn";
import { chooseTheme, type Theme, useTheme } from "@/lib/theme";
import { Section } from "./section";

const THEMES: [Theme, string][] = [
  ["system", "System"],
  ["light", "Light"],
  ["dark", "Dark"],
];

export function Appearance() {
  const chosen = useTheme();
  return (
    <Section title="Theme" note="System follows your device.">
      <div className="flex gap-2">
        {THEMES.map(([theme, name]) => (
          <Button
            key={theme}
            aria-pressed={theme === chosen}
            onClick={() => chooseTheme(theme)}
            className={cn(theme === chosen && "border-primary")}
          >
            {name}
          </Button>
        ))}
      </div>
    </Section>
  );
}
