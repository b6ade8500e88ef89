/**
 * A unified diff by file, highlighted once the highlighter is loaded, plain until then.
 * Lines can be commented on with `onComment`, and files marked as viewed with `remember`.
 */

import { memo, type ReactNode, useMemo, useState } from "react";
import { Button } from "@/components/ui/button";
import { plural } from "@/lib/format";
import { useStored } from "@/lib/stored";
import { DiffFile, type LoadWhole } from "./diff-file";
import { FileList } from "./file-list";
import { type ChangedFile, filesOf, type Side } from "./files";
import { useColours } from "./use-colours";

/** Longer files are collapsed at first. */
const LONG_LINES = 600;
const MANY_FILES = 30;
const NO_NOTES: Note[] = [];

/** A line of a file, or with no line the file as a whole. */
export type Place = { file: string; line: number | null; side: Side };
/** Content below a line, or at the head of a file. */
export type Note = Place & { key: string; content: ReactNode };

type Props = {
  patch: string;
  notes?: Note[];
  onComment?: (place: Place) => void;
  /** The storage name for which files were viewed. */
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
