/** One file of a diff: its header, the notes on it, and its lines. */

import type { FileDiffMetadata } from "@pierre/diffs";
import { FileDiff } from "@pierre/diffs/react";
import { useMemo, useState } from "react";
import { useIsDark } from "@/lib/theme";
import { DiffFileHead } from "./diff-file-head";
import type { Note, Place } from "./diff-view";
import { nameExpandButtons } from "./expand-buttons";
import { type ChangedFile, contentsOf, plainLines, type Side, shows } from "./files";
import { THEMES } from "./use-colours";

/**
 * Comments in lines that were added or removed are too faint for some readers in the light theme; and how
 * many lines follow the last change is not known before they are loaded.
 */
const READABLE = `[data-line] span[style*="66707b" i] {
  color: light-dark(#4a525c, var(--diffs-token-dark, var(--diffs-dark)));
}
[data-separator-last] [data-separator-content] { font-size: 0; }
[data-separator-last] [data-separator-content]::after { content: "Show lines below"; font-size: 12px; }`;
const PLAIN_LINES = 600;

export type LoadWhole = (paths: string[]) => Promise<string>;

type Props = {
  file: ChangedFile;
  coloured: boolean;
  split: boolean;
  initiallyOpen: boolean;
  notes: Note[];
  onComment?: (place: Place) => void;
  loadWhole?: LoadWhole;
  /** Undefined where it is not remembered. */
  viewed?: boolean;
  onViewed: (viewed: boolean) => void;
};

export function DiffFile(props: Props) {
  const { file, initiallyOpen, notes, onComment, viewed = false, onViewed } = props;
  const [open, setOpen] = useState(initiallyOpen && !viewed);
  const isBelowLine = (note: Note): note is Note & { line: number } =>
    note.line !== null && shows(file, note.line, note.side);
  const aboutFile = notes.filter((note) => !isBelowLine(note));
  return (
    <section id={anchorOf(file.name)} aria-label={file.name} className="overflow-hidden rounded-lg border">
      <DiffFileHead
        file={file}
        open={open}
        onOpen={setOpen}
        onComment={onComment}
        viewed={props.viewed}
        onViewed={(is) => {
          onViewed(is);
          setOpen(!is);
        }}
      />
      {aboutFile.map(({ key, content }) => (
        <div key={key} className="border-b">
          {content}
        </div>
      ))}
      {open &&
        (file.nothing ? (
          <p className="px-3 py-2.5 text-[13px] text-muted-foreground">{file.nothing}</p>
        ) : props.coloured ? (
          <Lines {...props} notes={notes.filter(isBelowLine)} />
        ) : (
          <pre className="overflow-x-auto p-3 font-mono text-xs text-muted-foreground">
            {plainLines(file.diff).slice(0, PLAIN_LINES).join("\n")}
          </pre>
        ))}
    </section>
  );
}

type LinesProps = Omit<Props, "notes"> & { notes: (Note & { line: number })[] };

function Lines({ file, split, notes, onComment, loadWhole }: LinesProps) {
  const dark = useIsDark();
  const options = useMemo(
    () => ({
      theme: THEMES,
      themeType: dark ? ("dark" as const) : ("light" as const),
      preferredHighlighter: "shiki-js" as const,
      diffStyle: split ? ("split" as const) : ("unified" as const),
      overflow: "wrap" as const,
      unsafeCSS: READABLE,
      disableFileHeader: true,
      // Without a way to load them, hidden lines do not look expandable.
      hunkSeparators: loadWhole ? ("line-info" as const) : ("simple" as const),
      loadDiffFiles:
        loadWhole && (({ name, prevName }: FileDiffMetadata) => wholeOf(loadWhole, name, prevName)),
      onPostRender: nameExpandButtons,
      enableGutterUtility: Boolean(onComment),
      onGutterUtilityClick: (range: { start: number; side?: Side }) =>
        onComment?.({ file: file.name, line: range.start, side: range.side ?? "additions" }),
    }),
    [dark, split, file.name, onComment, loadWhole],
  );
  const annotations = notes.map(({ line, side, content }) => ({
    lineNumber: line,
    side,
    metadata: { content },
  }));
  return (
    <FileDiff
      fileDiff={file.diff}
      options={options}
      lineAnnotations={annotations}
      renderAnnotation={({ metadata }) => metadata.content}
    />
  );
}

const wholeOf = async (load: LoadWhole, name: string, before?: string) =>
  contentsOf(await load(before && before !== name ? [before, name] : [name]), name);

export const anchorOf = (name: string) => `file-${encodeURIComponent(name)}`;
