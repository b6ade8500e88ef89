/** The diff stat of an order, without Journeyman's own records; undefined while loading. */

import { useQuery } from "@tanstack/react-query";
import type { Order } from "@/api/client";
import { diffQuery } from "@/api/queries";
import { type Stat, statOf } from "@/components/diff/stat";

export function useStat({ agent_work_order_id, git_commit_count }: Order): Stat | undefined {
  const enabled = git_commit_count > 0;
  return useQuery({ ...diffQuery(agent_work_order_id), select: statOf, enabled }).data;
}
