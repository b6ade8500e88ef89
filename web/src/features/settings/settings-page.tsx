import { useQueries } from "@tanstack/react-query";
import {
  agentsQuery,
  healthQuery,
  sandboxesQuery,
  settingsQuery,
  spendingQuery,
  workflowsQuery,
} from "@/api/queries";
import { SkeletonRows } from "@/components/feedback";
import { Page } from "@/components/page";
import { Appearance } from "./appearance";
import { Defaults } from "./defaults";
import { Installed } from "./installed";
import { Keys } from "./keys";
import { Server } from "./server";
import { DAYS, Spending } from "./spending";

/** Rendered once everything is loaded, to avoid layout shifts. */
export function SettingsPage() {
  const isReady = useQueries({
    queries: [agentsQuery, sandboxesQuery, workflowsQuery, healthQuery, settingsQuery, spendingQuery(DAYS)],
    combine: (answers) => answers.every((answer) => answer.isFetched),
  });
  return (
    <Page title="Settings">
      {!isReady ? (
        <SkeletonRows rows={8} />
      ) : (
        <>
          <Defaults />
          <Keys />
          <Spending />
          <Appearance />
          <Installed />
          <Server />
        </>
      )}
    </Page>
  );
}
