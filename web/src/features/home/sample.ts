/** The sample repository, once it was made here, and the recorded model that knows it and nothing else. */

import { useStored } from "@/lib/stored";

export type Sample = { repository_url: string; model: string };

export const useSample = () => useStored<Sample | null>("sample", null);
