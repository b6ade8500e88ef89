import { useQuery } from "@tanstack/react-query";
import { settingsQuery } from "@/api/queries";
import { Card } from "@/components/page";
import { cn } from "@/lib/cn";
import { Section } from "./section";

export function Server() {
  const { data } = useQuery(settingsQuery);
  return (
    <Section
      title="Server"
      note="Read from the environment and from journeyman.toml when the server starts. Secrets are never shown."
    >
      <Card className="divide-y">
        {data?.settings.map(({ name, meaning, is_secret, is_set, value }) => (
          <div key={name} className="px-4 py-2 text-[13px]">
            <div className="flex flex-wrap items-baseline gap-x-3">
              <code className="font-mono text-xs">{name}</code>
              <span
                className={cn(
                  "ml-auto font-mono text-xs break-all",
                  is_set ? "text-foreground" : "text-muted-foreground",
                )}
              >
                {is_secret ? (is_set ? "set" : "not set") : (value ?? "not set")}
              </span>
            </div>
            <p className="text-xs text-muted-foreground">{meaning}</p>
          </div>
        ))}
      </Card>
    </Section>
  );
}
