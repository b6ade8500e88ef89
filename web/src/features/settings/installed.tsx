import { useQuery } from "@tanstack/react-query";
import { agentsQuery, healthQuery, sandboxesQuery } from "@/api/queries";
import { Card } from "@/components/page";
import { plainText } from "@/lib/advice";
import { Readiness } from "./readiness";
import { Section } from "./section";

export function Installed() {
  const agents = useQuery(agentsQuery).data?.agents ?? [];
  const sandboxes = useQuery(sandboxesQuery).data?.sandboxes ?? [];
  const { data: health } = useQuery(healthQuery);
  return (
    <Section
      title="Agents and sandboxes"
      note={health ? `Journeyman ${health.version}, isolated by ${health.isolation}.` : ""}
    >
      <Card className="divide-y">
        {agents.map(({ name, version, ready, needs }) => (
          <Readiness key={name} name={`Agent ${name}`} ready={ready}>
            {ready ? version : plainText(needs) || "Not installed on this server."}
          </Readiness>
        ))}
        {sandboxes.map(({ sandbox_type, isolation, ready, needs }) => (
          <Readiness key={sandbox_type} name={`Sandbox ${sandbox_type}`} ready={ready}>
            {ready ? isolation : plainText(needs) || "Not available on this server."}
          </Readiness>
        ))}
      </Card>
    </Section>
  );
}
