import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { settingsQuery } from "@/api/queries";
import { Card } from "@/components/page";
import { Readiness } from "./readiness";
import { Section } from "./section";

/** Keys of providers and of the forge, not those of Journeyman itself. */
const IS_KEY = /^(?!JOURNEYMAN_).*(_API_KEY|_TOKEN)$/;
const ID = "keys";

/** Which keys the server has, and how to add one. They cannot be entered here yet. */
export function Keys() {
  const settings = useQuery(settingsQuery).data?.settings ?? [];
  const home = settings.find(({ name }) => name === "JOURNEYMAN_HOME")?.value ?? "";
  // The section is rendered after the router has looked for the hash.
  useEffect(() => {
    if (location.hash === `#${ID}`) document.getElementById(ID)?.scrollIntoView();
  }, []);
  return (
    <Section
      id={ID}
      title="Keys"
      note="One model key is enough to start. GITHUB_TOKEN is for repositories on GitHub."
    >
      <Card className="divide-y">
        {settings
          .filter(({ name, is_secret }) => is_secret && IS_KEY.test(name))
          .map(({ name, is_set }) => (
            <Readiness key={name} name={name} ready={is_set}>
              {is_set ? "Set" : "Not set"}
            </Readiness>
          ))}
        <div className="px-4 py-3 text-[13px]">
          <p>
            To add a key, set it in the server's environment, or add a line to{" "}
            <code className="font-mono text-xs break-all">{home}/journeyman.toml</code>, and restart the
            server:
          </p>
          <pre className="mt-2 overflow-x-auto rounded-md border bg-muted/60 p-3 font-mono text-xs">
            ANTHROPIC_API_KEY = "your key"
          </pre>
        </div>
      </Card>
    </Section>
  );
}
