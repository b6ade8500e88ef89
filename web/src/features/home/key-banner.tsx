import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { KeyRound } from "lucide-react";
import { modelsQuery } from "@/api/queries";
import { Button } from "@/components/ui/button";

const KEY_NAME = /\b[A-Z][A-Z0-9_]*_KEY\b/;

/** No provider has a key: which settings would give one, and where they are explained. */
export function KeyBanner() {
  const { data } = useQuery(modelsQuery);
  const models = data?.models ?? [];
  if (!models.length || models.some(({ ready, sample_only }) => ready && !sample_only)) return null;
  const names = [...new Set(models.flatMap(({ needs }) => KEY_NAME.exec(needs)?.[0] ?? []))];
  return (
    <section
      aria-label="Model keys"
      className="mt-4 flex flex-wrap items-center gap-x-4 gap-y-2 rounded-lg border border-warning/50 bg-warning/8 p-4"
    >
      <KeyRound aria-hidden className="size-4 shrink-0 text-warning" />
      <div className="min-w-0 flex-1 basis-60">
        <h2 className="font-medium">Add a model key to work on your own repository</h2>
        <p className="text-[13px] text-muted-foreground">
          Set {names.map((name, index) => [index > 0 && " or ", <Code key={name} text={name} />])} for the
          server, then restart it. The sample needs no key.
        </p>
      </div>
      <Button size="sm" asChild>
        <Link to="/settings" hash="keys">
          How to add a key
        </Link>
      </Button>
    </section>
  );
}

const Code = ({ text }: { text: string }) => <code className="font-mono text-xs break-all">{text}</code>;
