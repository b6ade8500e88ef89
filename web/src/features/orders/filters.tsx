import { useQuery } from "@tanstack/react-query";
import { Search } from "lucide-react";
import { useEffect, useState } from "react";
import { workflowsQuery } from "@/api/queries";
import { STATUSES, statusWord } from "@/components/status-pill";
import { Input } from "@/components/ui/field";
import { Picker } from "@/components/ui/picker";
import { repositoryName, workflowName } from "@/lib/format";
import { useKnownRepositories } from "@/lib/preferences";
import type { OrdersSearch } from "@/router";

const ANY = { value: "", label: "any" };
const SORTS = [
  { value: "-created_at", label: "newest" },
  { value: "created_at", label: "oldest" },
  { value: "-updated_at", label: "recently updated" },
  { value: "title", label: "title" },
  { value: "status", label: "status" },
];
const DEBOUNCE_MS = 250;

type Props = {
  search: OrdersSearch;
  /** Those of the listed orders; those verified in this browser are added. */
  repositories: string[];
  onChange: (changes: Partial<OrdersSearch>) => void;
};

export function Filters({ search, repositories: shown, onChange }: Props) {
  const { data } = useQuery(workflowsQuery);
  const [known] = useKnownRepositories();
  const repositories = [
    ...new Set([...known.map(({ url }) => url), ...shown, search.repository_url ?? ""]),
  ].filter(Boolean);
  return (
    <div className="mb-4 flex flex-wrap items-center gap-2">
      <SearchField value={search.q ?? ""} onChange={(q) => onChange({ q: q || undefined })} />
      <Picker
        label="Status"
        value={search.status ?? ""}
        choices={[ANY, ...STATUSES.map((value) => ({ value, label: statusWord(value) }))]}
        onChange={(value) => onChange({ status: STATUSES.find((status) => status === value) })}
      />
      <Picker
        label="Repository"
        value={search.repository_url ?? ""}
        choices={[
          ANY,
          ...repositories.map((value) => ({ value, label: repositoryName(value), note: value })),
        ]}
        onChange={(value) => onChange({ repository_url: value || undefined })}
      />
      <Picker
        label="Workflow"
        value={search.workflow_type ?? ""}
        choices={[
          ANY,
          ...(data?.workflows ?? [])
            .filter(({ alias_of }) => !alias_of)
            .map(({ name }) => ({ value: name, label: workflowName(name), note: name })),
        ]}
        onChange={(value) => onChange({ workflow_type: value || undefined })}
      />
      <DayField
        label="From"
        value={search.created_after}
        onChange={(day) => onChange({ created_after: day })}
      />
      <DayField
        label="To"
        value={search.created_before}
        onChange={(day) => onChange({ created_before: day })}
      />
      <Picker
        label="Sort"
        className="sm:ml-auto"
        value={search.sort ?? "-created_at"}
        choices={SORTS}
        onChange={(value) => onChange({ sort: value === "-created_at" ? undefined : value })}
      />
    </div>
  );
}

/** Debounced: a search begins when typing pauses. */
function SearchField({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  useEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onChange(text), DEBOUNCE_MS);
    return () => clearTimeout(timer);
  }, [text, value, onChange]);
  return (
    <div className="relative basis-full sm:basis-56">
      <Search aria-hidden className="absolute top-2 left-2.5 size-4 text-muted-foreground" />
      <Input
        data-slash
        type="search"
        aria-label="Search orders"
        placeholder="Search"
        value={text}
        onChange={(event) => setText(event.target.value)}
        className="h-8 pl-8 text-xs"
      />
    </div>
  );
}

type DayProps = { label: string; value?: string; onChange: (day?: string) => void };

const DayField = ({ label, value, onChange }: DayProps) => (
  <label className="inline-flex h-8 items-center gap-1.5 rounded-md border bg-card px-2.5 text-xs focus-within:outline-2 focus-within:outline-ring">
    <span className="text-muted-foreground">{label}</span>
    <input
      type="date"
      value={value ?? ""}
      onChange={(event) => onChange(event.target.value || undefined)}
      className="w-26 bg-transparent outline-none"
    />
  </label>
);
