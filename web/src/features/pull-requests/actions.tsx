/** The buttons for what a pull request of the local forge allows. They keep their places when its state changes. */

import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { GitMerge } from "lucide-react";
import { useState } from "react";
import { api, problemOf, type ShownPullRequest, unwrap } from "@/api/client";
import { keys } from "@/api/queries";
import { ErrorMessage } from "@/components/feedback";
import { Button } from "@/components/ui/button";
import { Dialog } from "@/components/ui/dialog";
import { toast } from "@/components/ui/toast";
import { plural, repositoryName } from "@/lib/format";
import { MergeConflict } from "./merge-conflict";

export function Actions({ pull }: { pull: ShownPullRequest }) {
  const { merge, ready } = usePullRequest(pull);
  const [asking, setAsking] = useState(false);
  const id = pull.agent_work_order_id;
  const allowed = pull.allowed_actions ?? [];
  const isConflict = merge.isError && problemOf(merge.error).kind === "merge-conflict";
  return (
    <div className="mb-6">
      <div className="flex min-h-7 flex-wrap gap-2">
        {id && (
          <Button size="sm" asChild>
            <Link to="/orders/$id" params={{ id }}>
              View order
            </Link>
          </Button>
        )}
        {allowed.includes("mark_ready") && id && (
          <Button size="sm" look="primary" disabled={ready.isPending} onClick={() => ready.mutate()}>
            Mark ready for review
          </Button>
        )}
        {allowed.includes("merge") && (
          <Button size="sm" look="primary" disabled={merge.isPending} onClick={() => setAsking(true)}>
            <GitMerge /> Merge into {pull.base}
          </Button>
        )}
      </div>
      {allowed.includes("merge") && isConflict && (
        <MergeConflict pull={pull} problem={problemOf(merge.error)} />
      )}
      {merge.isError && !isConflict && <ErrorMessage fault={merge.error} onRetry={() => setAsking(true)} />}
      <Dialog
        open={asking}
        onOpenChange={setAsking}
        title={`Merge into ${pull.base}?`}
        description={`${plural(pull.commits?.length ?? 0, "commit")} will be merged in ${repositoryName(pull.repository_url)} itself.`}
      >
        <div className="flex justify-end gap-2">
          <Button onClick={() => setAsking(false)}>Cancel</Button>
          <Button
            look="primary"
            onClick={() => {
              setAsking(false);
              merge.mutate();
            }}
          >
            <GitMerge /> Merge
          </Button>
        </div>
      </Dialog>
    </div>
  );
}

function usePullRequest({ number, agent_work_order_id }: ShownPullRequest) {
  const client = useQueryClient();
  const id = agent_work_order_id ?? "";
  const refresh = () =>
    Promise.all([
      client.invalidateQueries({ queryKey: ["local pull requests"] }),
      client.invalidateQueries({ queryKey: keys.orders }),
      client.invalidateQueries({ queryKey: ["order", id] }),
    ]);
  const merge = useMutation({
    meta: { shown: true },
    mutationFn: () =>
      unwrap(api.POST("/api/local-forge/pull-requests/{number}/merge", { params: { path: { number } } })),
    onSuccess: ({ base }) => toast(`Merged into ${base}`),
    onSettled: refresh,
  });
  const ready = useMutation({
    mutationFn: () =>
      unwrap(
        api.POST("/api/agent-work-orders/{agent_work_order_id}/pull-request/ready", {
          params: { path: { agent_work_order_id: id } },
        }),
      ),
    onSettled: refresh,
  });
  return { merge, ready };
}
