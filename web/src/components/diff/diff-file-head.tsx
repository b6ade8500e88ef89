import { FileDiff as FileIcon, MessageSquarePlus } from "lucide-react";
import { Button } from "@/components/ui/button";
import type { Place } from "./diff-view";
import type { ChangedFile } from "./files";

type Props = {
  file: ChangedFile;
  open: boolean;
  onOpen: (open: boolean) => void;
  onComment?: (place: Place) => void;
  viewed?: boolean;
  onViewed: (viewed: boolean) => void;
};

export function DiffFileHead({ file, open, onOpen, onComment, viewed, onViewed }: Props) {
  const before = file.diff.prevName;
  return (
    <header className="flex items-center gap-2 border-b bg-muted/60 px-3 py-1.5">
      <FileIcon aria-hidden className="size-4 shrink-0 text-muted-foreground" />
      <button
        type="button"
        data-file
        aria-expanded={open}
        onClick={() => onOpen(!open)}
        className="min-w-0 flex-1 truncate text-left font-mono text-xs"
      >
        {before && before !== file.name && <span className="text-muted-foreground">{before} → </span>}
        {file.name}
      </button>
      <Counts file={file} />
      {onComment && (
        <Button
          size="sm"
          look="quiet"
          aria-label={`Comment on ${file.name}`}
          onClick={() => onComment({ file: file.name, line: null, side: "additions" })}
        >
          <MessageSquarePlus />
        </Button>
      )}
      {viewed !== undefined && (
        <label className="flex items-center gap-1.5 text-xs text-muted-foreground">
          <input
            type="checkbox"
            checked={viewed}
            onChange={(event) => onViewed(event.target.checked)}
            className="size-3.5 accent-primary"
          />
          Viewed<span className="sr-only"> {file.name}</span>
        </label>
      )}
    </header>
  );
}

type Counted = { added: number; removed: number; nothing?: string };

export const Counts = ({ file: { added, removed, nothing } }: { file: Counted }) =>
  nothing ? null : (
    <span className="shrink-0 text-xs tabular-nums">
      <span className="text-success">+{added}</span> <span className="text-destructive">−{removed}</span>
    </span>
  );
