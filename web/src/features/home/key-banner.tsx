import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { KeyRound } from "lucide-react";
import { modelsQuery } from "@/api/queries";
import { Button } from "@/components/ui/button";

/** Shown while no provider has a key. */
export function KeyBanner() {
  const { data } = useQuery(modelsQuery);
  const models = data?.models ?? [];
  if (!models.length || models.some(({ ready, sample_only }) => ready && !sample_only)) return null;
  return (
    <section
      aria-label="Model keys"
      className="mt-4 flex flex-wrap items-center gap-x-4 gap-y-2 rounded-lg border border-warning/50 bg-warning/8 p-4"
    >
      <KeyRound aria-hidden className="size-4 shrink-0 text-warning" />
      <div className="min-w-0 flex-1 basis-60">
        <h2 className="font-medium">Add a model key to work on your own repository</h2>
        <p className="text-[13px] text-muted-foreground">
          One key of any model provider is enough. The sample needs no key.
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
