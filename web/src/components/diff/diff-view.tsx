/**
 * A unified diff, file by file, coloured once the highlighter is there; until then as it stands.
 * Lines can be commented on where somebody listens, and files ticked off where somebody is to remember it.
 */

import { memo, type ReactNode, useMemo, useState } from "react";
import { Button } from "@/components/ui/button";
import { plural } from "@/lib/format";
import { useStored } from "@/lib/stored";
import { DiffFile, type LoadWhole } from "./diff-file";
import { FileList } from "./file-list";
import { type ChangedFile, filesOf, type Side } from "./files";
import { useColours } from "./use-colours";

/** More than this is shown when somebody opens it. */
const LONG_LINES = 600;
const MANY_FILES = 30;
const NO_NOTES: Note[] = [];

/** A line of a file, or with no line the file as a whole. */
export type Place = { file: string; line: number | null; side: Side };
/** What stands below a line, or at the head of a file. */
export type Note = Place & { key: string; content: ReactNode };

type Props = {
  patch: string;
  notes?: Note[];
  onComment?: (place: Place) => void;
  /** Under which name to remember what was viewed. */
  remember?: string;
  /** The patch of one file with all of its lines. */
  loadWhole?: LoadWhole;
};

export default memo(DiffView);

function DiffView({ patch, notes = NO_NOTES, onComment, remember, loadWhole }: Props) {
  const { files, cut } = useMemo(() => filesOf(patch), [patch]);
  const coloured = useColours();
  const [split, setSplit] = useStored("diff.split", false);
  const [viewed, setViewed] = useStored<Record<string, string>>(`viewed.${remember ?? ""}`, {});
  const [own, setOwn] = useState(false);
  const changes = files.filter(({ record }) => !record);
  const records = files.filter(({ record }) => record);
  const show = (file: ChangedFile, index: number) => (
    <DiffFile
      key={file.name}
      file={file}
      coloured={coloured}
      split={split}
      initiallyOpen={index < MANY_FILES && file.diff.unifiedLineCount < LONG_LINES && !file.record}
      notes={notes.filter((note) => note.file === file.name)}
      onComment={onComment}
      loadWhole={loadWhole}
      viewed={remember ? viewed[file.name] === file.version : undefined}
      onViewed={(is) => setViewed({ ...viewed, [file.name]: is ? file.version : "" })}
    />
  );
  return (
    <div className="flex flex-col gap-3">
      <FileList files={changes} split={split} onSplit={setSplit} />
      {changes.map(show)}
      {cut && (
        <p className="text-[13px] text-muted-foreground">
          This diff is too long to show in full. The rest is on the branch.
        </p>
      )}
      {records.length > 0 && (
        <Button
          size="sm"
          look="quiet"
          className="self-start"
          aria-expanded={own}
          onClick={() => setOwn(!own)}
        >
          {own ? "Hide" : "Show"} {plural(records.length, "file")} that Journeyman recorded
        </Button>
      )}
      {own && records.map(show)}
    </div>
  );
}
