/**
 * A unified diff, file by file, coloured once the highlighter is there; until then as it stands.
 * Lines can be commented on where somebody listens.
 */

import type { FileDiffMetadata } from "@pierre/diffs";
import { parsePatchFiles, preloadHighlighter } from "@pierre/diffs";
import { FileDiff } from "@pierre/diffs/react";
import { FileDiff as FileIcon, MessageSquarePlus } from "lucide-react";
import { type ReactNode, useEffect, useMemo, useState } from "react";
import { Button } from "@/components/ui/button";
import { cn } from "@/lib/cn";
import { useIsDark } from "@/lib/theme";
import { FileList, type FileSummary } from "./file-list";

const THEMES = { light: "github-light-high-contrast", dark: "github-dark-high-contrast" } as const;
/** Comments in lines that were added or removed are too faint for some readers in the light theme. */
const READABLE = `[data-line] span[style*="66707b" i] {
  color: light-dark(#4a525c, var(--diffs-token-dark, var(--diffs-dark)));
}`;
/** More than this is shown when somebody opens it. */
const LONG_LINES = 600;
const MANY_FILES = 30;

export type Place = { file: string; line: number; side: "additions" | "deletions" };
/** What stands below a line. */
export type Note = Place & { content: ReactNode };

type Props = { patch: string; notes?: Note[]; onComment?: (place: Place) => void };

export default function DiffView({ patch, notes = [], onComment }: Props) {
  const files = useMemo(() => ownRecordsLast(parsePatchFiles(patch).flatMap((one) => one.files)), [patch]);
  const coloured = useColours();
  return (
    <div className="flex flex-col gap-3">
      <FileList files={files.map(summaryOf)} />
      {files.map((file, index) => (
        <OneFile
          key={file.name}
          file={file}
          coloured={coloured}
          initiallyOpen={index < MANY_FILES && file.unifiedLineCount < LONG_LINES && !isRecord(file)}
          notes={notes.filter((note) => note.file === file.name)}
          onComment={onComment}
        />
      ))}
    </div>
  );
}

/** Plan and test results, which Journeyman commits itself. */
const isRecord = ({ name }: FileDiffMetadata) => name.startsWith(".journeyman/");
const ownRecordsLast = (files: FileDiffMetadata[]) =>
  files.toSorted((a, b) => Number(isRecord(a)) - Number(isRecord(b)));

export function summaryOf(file: FileDiffMetadata): FileSummary {
  const added = file.hunks.reduce((sum, hunk) => sum + hunk.additionLines, 0);
  const removed = file.hunks.reduce((sum, hunk) => sum + hunk.deletionLines, 0);
  return { name: file.name, kind: file.type, added, removed };
}

/** The diff view draws nothing before its highlighter is up. */
function useColours(): boolean {
  const [ready, setReady] = useState(false);
  useEffect(() => {
    let wanted = true;
    const options = {
      themes: Object.values(THEMES),
      langs: ["text" as const],
      preferredHighlighter: "shiki-js" as const,
    };
    void preloadHighlighter(options).then(() => wanted && setReady(true));
    return () => {
      wanted = false;
    };
  }, []);
  return ready;
}

type FileProps = {
  file: FileDiffMetadata;
  coloured: boolean;
  initiallyOpen: boolean;
  notes: Note[];
  onComment?: (place: Place) => void;
};

function OneFile({ file, coloured, initiallyOpen, notes, onComment }: FileProps) {
  const [open, setOpen] = useState(initiallyOpen);
  const dark = useIsDark();
  const { added, removed } = summaryOf(file);
  const options = useMemo(
    () => ({
      theme: THEMES,
      themeType: dark ? ("dark" as const) : ("light" as const),
      preferredHighlighter: "shiki-js" as const,
      diffStyle: "unified" as const,
      overflow: "wrap" as const,
      unsafeCSS: READABLE,
      disableFileHeader: true,
      enableGutterUtility: Boolean(onComment),
      onGutterUtilityClick: (range: { start: number; side?: Place["side"] }) =>
        onComment?.({ file: file.name, line: range.start, side: range.side ?? "additions" }),
    }),
    [dark, file.name, onComment],
  );
  const annotations = notes.map(({ line, side, content }) => ({
    lineNumber: line,
    side,
    metadata: { content },
  }));
  return (
    <section id={anchorOf(file.name)} aria-label={file.name} className="overflow-hidden rounded-lg border">
      <header className="flex items-center gap-2 border-b bg-muted/60 px-3 py-1.5">
        <FileIcon aria-hidden className="size-4 shrink-0 text-muted-foreground" />
        <button
          type="button"
          data-file
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          className="min-w-0 flex-1 truncate text-left font-mono text-xs"
        >
          {file.prevName && file.prevName !== file.name && (
            <span className="text-muted-foreground">{file.prevName} → </span>
          )}
          {file.name}
        </button>
        <Counts added={added} removed={removed} />
        {onComment && open && (
          <Button
            size="sm"
            look="quiet"
            aria-label={`Comment on ${file.name}`}
            onClick={() => onComment({ file: file.name, line: firstLine(file), side: "additions" })}
          >
            <MessageSquarePlus />
          </Button>
        )}
      </header>
      {open &&
        (coloured ? (
          <FileDiff
            fileDiff={file}
            options={options}
            lineAnnotations={annotations}
            renderAnnotation={({ metadata }) => metadata.content}
          />
        ) : (
          <Plain file={file} />
        ))}
    </section>
  );
}

export const Counts = ({ added, removed }: { added: number; removed: number }) => (
  <span className="shrink-0 text-xs tabular-nums">
    <span className="text-success">+{added}</span> <span className="text-destructive">−{removed}</span>
  </span>
);

const Plain = ({ file }: { file: FileDiffMetadata }) => (
  <pre className={cn("overflow-x-auto p-3 font-mono text-xs text-muted-foreground")}>
    {file.additionLines.slice(0, LONG_LINES).join("")}
  </pre>
);

const firstLine = (file: FileDiffMetadata) => file.hunks[0]?.additionStart || 1;
export const anchorOf = (name: string) => `file-${encodeURIComponent(name)}`;
