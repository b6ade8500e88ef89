/** The sample repository, once created, and the recorded model that works on it only. */

import { useStored } from "@/lib/stored";

export type Sample = { repository_url: string; model: string };

export const useSample = () => useStored<Sample | null>("sample", null);
