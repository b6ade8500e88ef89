/** Preferences for new orders, kept in this browser. Empty means the server's default. */

import { useStored } from "./stored";

export type Preferences = {
  model: string;
  agent: string;
  workflow_type: string;
  sandbox_type: "git_worktree" | "git_branch";
  budget_usd: string;
};

const DEFAULTS: Preferences = {
  model: "",
  agent: "",
  workflow_type: "agent_workflow_plan_build_test",
  sandbox_type: "git_worktree",
  budget_usd: "",
};

export function usePreferences(): [Preferences, (changes: Partial<Preferences>) => void] {
  const [stored, setStored] = useStored<Partial<Preferences>>("preferences", {});
  const preferences = { ...DEFAULTS, ...stored };
  return [preferences, (changes) => setStored({ ...preferences, ...changes })];
}

export type KnownRepository = { url: string; branch: string | null };

/** Repositories that were verified here, the newest first. */
export function useKnownRepositories(): [KnownRepository[], (repository: KnownRepository) => void] {
  const [known, setKnown] = useStored<KnownRepository[]>("repositories", []);
  const remember = (repository: KnownRepository) =>
    setKnown([repository, ...known.filter((other) => other.url !== repository.url)].slice(0, 12));
  return [known, remember];
}
