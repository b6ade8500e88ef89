/** The frame of every page: the sidebar (a bottom bar on small screens), palette, shortcuts and toasts. */

import { Link, Outlet } from "@tanstack/react-router";
import {
  FolderGit2,
  GitPullRequest,
  House,
  Inbox,
  ListTodo,
  type LucideIcon,
  PanelLeft,
  Search,
  Settings,
  Workflow,
} from "lucide-react";
import { Suspense, useCallback, useState } from "react";
import { Toasts } from "@/components/ui/toast";
import { useInbox } from "@/features/inbox/use-inbox";
import { useNotices } from "@/features/inbox/use-notices";
import { cn } from "@/lib/cn";
import { lazyWithRetry } from "@/lib/lazy";
import { useStored } from "@/lib/stored";
import { useSystemTheme } from "@/lib/theme";
import { PLACES, useKeys } from "./keys";
import { OfflineBar } from "./offline-bar";

const Help = lazyWithRetry(() => import("./help").then(({ Help }) => ({ default: Help })));
const Palette = lazyWithRetry(() => import("./palette").then(({ Palette }) => ({ default: Palette })));

const ICONS: Record<(typeof PLACES)[number]["to"], LucideIcon> = {
  "/": House,
  "/inbox": Inbox,
  "/orders": ListTodo,
  "/repositories": FolderGit2,
  "/workflows": Workflow,
  "/local-forge/pull-requests": GitPullRequest,
  "/settings": Settings,
};

export function Shell() {
  const [shown, setShown] = useState<"palette" | "help" | null>(null);
  const show = useCallback((what: "palette" | "help") => setShown(what), []);
  useKeys(show);
  useSystemTheme();
  const inbox = useInbox();
  useNotices(inbox);
  return (
    <>
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:bg-card focus:p-3"
      >
        Skip to content
      </a>
      <div className="flex h-full flex-col-reverse sm:flex-row">
        <Rail waiting={inbox.entries.length} onSearch={() => setShown("palette")} />
        <div className="flex min-h-0 min-w-0 flex-1 flex-col">
          <OfflineBar />
          <main id="content" tabIndex={-1} className="min-h-0 flex-1 outline-none">
            <Outlet />
          </main>
        </div>
      </div>
      <Suspense>
        {shown === "palette" && <Palette onClose={() => setShown(null)} onHelp={() => setShown("help")} />}
        {shown === "help" && <Help onClose={() => setShown(null)} />}
      </Suspense>
      <Toasts />
    </>
  );
}

function Rail({ waiting, onSearch }: { waiting: number; onSearch: () => void }) {
  const [narrow, setNarrow] = useStored("rail.narrow", false);
  const word = cn("truncate max-sm:max-w-full max-sm:text-[10px] max-sm:leading-3", narrow && "sm:sr-only");
  const row = cn(
    "relative flex items-center gap-2.5 rounded-md px-2.5 py-2 text-muted-foreground hover:bg-muted hover:text-foreground",
    "max-sm:min-w-0 max-sm:flex-1 max-sm:flex-col max-sm:gap-1 max-sm:px-0.5 max-sm:py-1.5",
  );
  return (
    <nav
      aria-label="Main"
      className={cn(
        "flex shrink-0 border-t bg-card max-sm:p-1 sm:flex-col sm:gap-0.5 sm:border-t-0 sm:border-r sm:p-2.5",
        narrow ? "sm:w-14" : "sm:w-52",
      )}
    >
      <div className="mb-3 flex items-center gap-2.5 px-1.5 py-1 max-sm:hidden">
        <img src="/icon.svg" alt="" className="size-6" />
        <span className={cn("font-semibold tracking-tight", narrow && "sr-only")}>Journeyman</span>
      </div>
      <button type="button" onClick={onSearch} className={cn(row, "max-sm:order-last")}>
        <Search aria-hidden className="size-4 shrink-0 max-sm:size-5" />
        <span className={word}>Search</span>
        {!narrow && (
          <kbd className="ml-auto rounded border px-1.5 font-mono text-[10px] max-sm:hidden">Ctrl K</kbd>
        )}
      </button>
      {PLACES.map((place) => {
        const { to, name } = place;
        const Icon = ICONS[to];
        return (
          <Link
            key={to}
            to={to}
            activeOptions={{ exact: to === "/" }}
            className={row}
            activeProps={{ className: "bg-accent text-accent-foreground sm:font-medium hover:bg-accent" }}
          >
            <Icon aria-hidden className="size-4 shrink-0 max-sm:size-5" />
            <span className={word}>
              <span className={cn("short" in place && "max-sm:hidden")}>{name}</span>
              {"short" in place && <span className="sm:hidden">{place.short}</span>}
            </span>
            {to === "/inbox" && waiting > 0 && <Badge count={waiting} narrow={narrow} />}
          </Link>
        );
      })}
      <button
        type="button"
        aria-label={narrow ? "Expand sidebar" : "Collapse sidebar"}
        onClick={() => setNarrow(!narrow)}
        className={cn(row, "mt-auto max-sm:hidden")}
      >
        <PanelLeft aria-hidden className="size-4 shrink-0" />
      </button>
    </nav>
  );
}

function Badge({ count, narrow }: { count: number; narrow: boolean }) {
  return (
    <span
      className={cn(
        "rounded-full bg-primary px-1.5 text-[11px] leading-4.5 font-medium text-primary-foreground",
        "max-sm:absolute max-sm:top-0 max-sm:right-1",
        narrow ? "sm:absolute sm:top-0 sm:right-0" : "sm:ml-auto",
      )}
    >
      {count}
      <span className="sr-only"> waiting</span>
    </span>
  );
}
