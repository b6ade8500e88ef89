/** The name under which the Checks panel imports the transcript. */
export type { Transcript as Story } from "./transcript";
