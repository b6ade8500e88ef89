import { ChevronRight, Columns2, Rows2 } from "lucide-react";
import { useState } from "react";
import { Button } from "@/components/ui/button";
import { cn } from "@/lib/cn";
import { plural } from "@/lib/format";
import { anchorOf } from "./diff-file";
import { Counts } from "./diff-file-head";
import type { ChangedFile } from "./files";

type Props = { files: ChangedFile[]; split: boolean; onSplit: (split: boolean) => void };

/** The changed files by directory; a click scrolls to one. */
export function FileList({ files, split, onSplit }: Props) {
  const [open, setOpen] = useState(true);
  const added = files.reduce((sum, file) => sum + file.added, 0);
  const removed = files.reduce((sum, file) => sum + file.removed, 0);
  return (
    <nav aria-label="Changed files" className="rounded-lg border">
      <div className="flex items-center pr-2">
        <button
          type="button"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          className="flex min-w-0 flex-1 items-center gap-2 px-3 py-2 text-left text-[13px]"
        >
          <ChevronRight aria-hidden className={cn("size-4 transition-transform", open && "rotate-90")} />
          <span className="flex-1 font-medium">{plural(files.length, "file")} changed</span>
          <Counts file={{ added, removed }} />
        </button>
        <Button
          size="sm"
          look="quiet"
          className="max-sm:hidden"
          aria-pressed={split}
          aria-label="Side by side"
          title={split ? "Show as one column" : "Show side by side"}
          onClick={() => onSplit(!split)}
        >
          {split ? <Rows2 /> : <Columns2 />}
        </Button>
      </div>
      {open && (
        <div className="max-h-64 overflow-y-auto border-t py-1.5">
          {byDirectory(files).map(([directory, inside]) => (
            <div key={directory}>
              {directory && (
                <p className="px-3 py-0.5 font-mono text-xs text-muted-foreground">{directory}</p>
              )}
              {inside.map((file) => (
                <button
                  key={file.name}
                  type="button"
                  onClick={() =>
                    document.getElementById(anchorOf(file.name))?.scrollIntoView({ block: "start" })
                  }
                  className={cn(
                    "flex w-full items-center gap-2 py-0.5 pr-3 text-left hover:bg-muted",
                    directory ? "pl-7" : "pl-3",
                  )}
                >
                  <span className="min-w-0 flex-1 truncate font-mono text-xs">
                    {file.name.slice(directory.length)}
                  </span>
                  <Counts file={file} />
                </button>
              ))}
            </div>
          ))}
        </div>
      )}
    </nav>
  );
}

function byDirectory(files: ChangedFile[]): [string, ChangedFile[]][] {
  const directories = new Map<string, ChangedFile[]>();
  for (const file of files) {
    const directory = file.name.slice(0, file.name.lastIndexOf("/") + 1);
    directories.set(directory, [...(directories.get(directory) ?? []), file]);
  }
  return [...directories];
}
