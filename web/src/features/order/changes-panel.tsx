/** The diff of the order. Comments on lines are collected and sent to the agent as one prompt. */

import { useQuery, useQueryClient } from "@tanstack/react-query";
import { FileDiff } from "lucide-react";
import { useCallback } from "react";
import type { Order } from "@/api/client";
import { diffQuery, wholeDiffQuery } from "@/api/queries";
import DiffView from "@/components/diff/diff-view";
import { Empty, ErrorMessage, SkeletonRows } from "@/components/feedback";
import type { Transcript } from "@/events/transcript";
import { SendComments } from "./send-comments";
import { SentComments } from "./sent-comments";
import { useNotes } from "./use-notes";

export default function ChangesPanel({ order, transcript }: { order: Order; transcript: Transcript }) {
  const id = order.agent_work_order_id;
  const client = useQueryClient();
  const { data, error, refetch } = useQuery(diffQuery(id));
  const { notes, sent, comments, begin, forget } = useNotes(id, transcript);
  const loadWhole = useCallback(
    (paths: string[]) => client.fetchQuery(wholeDiffQuery(id, paths)),
    [client, id],
  );

  if (error && !data) return <ErrorMessage fault={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <SkeletonRows rows={6} className="m-4 h-8" />;
  if (!data) {
    return (
      <Empty icon={FileDiff} title="No changes yet">
        The diff appears with the first commit and grows with each one after it.
      </Empty>
    );
  }
  return (
    <div className="p-4 pb-20">
      {sent.length > 0 && <SentComments sent={sent} />}
      <DiffView patch={data} notes={notes} onComment={begin} remember={id} loadWhole={loadWhole} />
      {comments.length > 0 && <SendComments id={id} comments={comments} onEmpty={forget} />}
    </div>
  );
}
