/** The panel beside the chat; heavy ones are loaded when opened. */

import { Suspense } from "react";
import { ErrorBoundary } from "react-error-boundary";
import type { OneOrder } from "@/api/client";
import { ErrorMessage, SkeletonRows } from "@/components/feedback";
import type { Transcript } from "@/events/transcript";
import { lazyWithRetry } from "@/lib/lazy";
import type { Panel } from "@/router";
import { ChecksPanel } from "./checks-panel";
import { InfoPanel } from "./info-panel";
import { PlanPanel } from "./plan-panel";
import { PullRequestPanel } from "./pull-request-panel";

const ChangesPanel = lazyWithRetry(() => import("./changes-panel"));

type ViewProps = { panel: Panel; answer: OneOrder; transcript: Transcript };

export function PanelView({ panel, answer, transcript }: ViewProps) {
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
          <ErrorMessage fault={error} onRetry={resetErrorBoundary} />
        )}
      >
        <Suspense
          fallback={
            <div className="p-4">
              <SkeletonRows rows={6} className="h-8" />
            </div>
          }
        >
          {panel === "plan" && <PlanPanel order={order} plan={transcript.plan} />}
          {panel === "changes" && <ChangesPanel order={order} transcript={transcript} />}
          {panel === "checks" && <ChecksPanel order={order} transcript={transcript} />}
          {panel === "pull-request" && <PullRequestPanel order={order} />}
          {panel === "info" && <InfoPanel answer={answer} transcript={transcript} />}
        </Suspense>
      </ErrorBoundary>
    </div>
  );
}
