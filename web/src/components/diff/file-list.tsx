import { ChevronRight } from "lucide-react";
import { useState } from "react";
import { cn } from "@/lib/cn";
import { plural } from "@/lib/format";
import { anchorOf, Counts } from "./diff-view";

export type FileSummary = { name: string; kind: string; added: number; removed: number };

/** The files that changed, by directory; a click leads to one. */
export function FileList({ files }: { files: FileSummary[] }) {
  const [open, setOpen] = useState(true);
  const directories = Map.groupBy(files, ({ name }) => name.slice(0, name.lastIndexOf("/") + 1));
  const added = files.reduce((sum, file) => sum + file.added, 0);
  const removed = files.reduce((sum, file) => sum + file.removed, 0);
  return (
    <nav aria-label="Changed files" className="rounded-lg border">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex w-full items-center gap-2 px-3 py-2 text-left text-[13px]"
      >
        <ChevronRight aria-hidden className={cn("size-4 transition-transform", open && "rotate-90")} />
        <span className="flex-1 font-medium">{plural(files.length, "file")} changed</span>
        <Counts added={added} removed={removed} />
      </button>
      {open && (
        <div className="max-h-64 overflow-y-auto border-t py-1.5">
          {[...directories].map(([directory, inside]) => (
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
                  <Counts added={file.added} removed={file.removed} />
                </button>
              ))}
            </div>
          ))}
        </div>
      )}
    </nav>
  );
}
