/** What stands beside the chat. Each reading is a panel of its own; heavy ones are loaded when opened. */

import { useNavigate } from "@tanstack/react-router";
import { Suspense } from "react";
import { ErrorBoundary } from "react-error-boundary";
import type { OneOrder } from "@/api/client";
import { SkeletonRows, Trouble } from "@/components/feedback";
import type { Story } from "@/events/story";
import { cn } from "@/lib/cn";
import { patient } from "@/lib/patient";
import { PANELS, type Panel } from "@/router";
import { ChecksPanel } from "./checks-panel";
import { InfoPanel } from "./info-panel";
import { PlanPanel } from "./plan-panel";
import { PullRequestPanel } from "./pull-request-panel";

const ChangesPanel = patient(() => import("./changes-panel"));

const NAMES: Record<Panel | "chat", string> = {
  chat: "Chat",
  plan: "Plan",
  changes: "Changes",
  checks: "Checks",
  "pull-request": "Pull request",
  info: "Info",
};

type BarProps = { current: Panel | "chat"; onChat: (chat: boolean) => void; className?: string };

export function PanelBar({ current, onChat, className }: BarProps) {
  const navigate = useNavigate();
  const small = className === "lg:hidden";
  const shown = small ? (["chat", ...PANELS] as const) : PANELS;
  const open = (panel: Panel | "chat") => {
    onChat(panel === "chat");
    if (panel !== "chat") void navigate({ to: ".", search: { panel }, replace: true });
  };
  return (
    <nav
      aria-label="Panels"
      className={cn("flex shrink-0 gap-1 overflow-x-auto border-b bg-card px-3 py-1.5", className)}
    >
      {shown.map((panel) => (
        <button
          key={panel}
          type="button"
          data-key={panel === "chat" ? "0" : PANELS.indexOf(panel) + 1}
          aria-current={panel === current ? "page" : undefined}
          onClick={() => open(panel)}
          className={cn(
            "shrink-0 rounded-md px-2.5 py-1.5 text-xs font-medium whitespace-nowrap",
            panel === current ? "bg-accent text-accent-foreground" : "text-muted-foreground hover:bg-muted",
          )}
        >
          {NAMES[panel]}
        </button>
      ))}
    </nav>
  );
}

type ViewProps = { panel: Panel; answer: OneOrder; story: Story };

export function PanelView({ panel, answer, story }: ViewProps) {
  const order = answer.agent_work_order;
  return (
    <div
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      className="min-h-0 flex-1 overflow-y-auto"
    >
      <ErrorBoundary
        key={panel}
        fallbackRender={({ error, resetErrorBoundary }) => (
          <Trouble fault={error} onRetry={resetErrorBoundary} />
        )}
      >
        <Suspense
          fallback={
            <div className="p-4">
              <SkeletonRows rows={6} className="h-8" />
            </div>
          }
        >
          {panel === "plan" && <PlanPanel order={order} plan={story.plan} />}
          {panel === "changes" && <ChangesPanel order={order} />}
          {panel === "checks" && <ChecksPanel order={order} />}
          {panel === "pull-request" && <PullRequestPanel order={order} />}
          {panel === "info" && <InfoPanel answer={answer} story={story} />}
        </Suspense>
      </ErrorBoundary>
    </div>
  );
}
