/** The routes. Pages are loaded on demand, or ahead while the browser is idle. */

import {
  createRootRoute,
  createRoute,
  createRouter,
  Link,
  lazyRouteComponent,
  useRouterState,
} from "@tanstack/react-router";
import { Compass } from "lucide-react";
import { useEffect } from "react";
import type { Status } from "@/api/client";
import { Empty, ErrorMessage, SkeletonRows } from "@/components/feedback";
import { Page } from "@/components/page";
import { STATUSES } from "@/components/status-pill";
import { Button } from "@/components/ui/button";
import { Shell } from "@/layout/shell";
import { ChunkMissing, part } from "@/lib/lazy";

const root = createRootRoute({ component: Root, notFoundComponent: NotFound });

function Root() {
  const title = useRouterState({
    select: ({ matches }) => (matches.at(-1)?.staticData as { title?: string } | undefined)?.title,
  });
  useEffect(() => {
    if (title) document.title = `${title} · Journeyman`;
  }, [title]);
  return <Shell />;
}

function NotFound() {
  return (
    <Page title="Page not found">
      <Empty icon={Compass} title="There is no page at this address">
        <p className="mb-3">Search with Ctrl K, or start from the home page.</p>
        <Button size="sm" asChild>
          <Link to="/">Go home</Link>
        </Button>
      </Empty>
    </Page>
  );
}

const page = <P extends string>(path: P, title: string, component: ReturnType<typeof lazyRouteComponent>) =>
  createRoute({ getParentRoute: () => root, path, component, staticData: { title } });

export type OrdersSearch = {
  status?: Status;
  q?: string;
  repository_url?: string;
  workflow_type?: string;
  created_after?: string;
  created_before?: string;
  sort?: string;
  page?: number;
};
const text = (value: unknown) => (typeof value === "string" && value ? value : undefined);

const orders = createRoute({
  getParentRoute: () => root,
  path: "/orders",
  staticData: { title: "Orders" },
  validateSearch: (search: Record<string, unknown>): OrdersSearch => ({
    status: STATUSES.find((status) => status === search.status),
    q: text(search.q),
    repository_url: text(search.repository_url),
    workflow_type: text(search.workflow_type),
    created_after: text(search.created_after),
    created_before: text(search.created_before),
    sort: text(search.sort),
    page: Number(search.page) > 1 ? Math.floor(Number(search.page)) : undefined,
  }),
  component: lazyRouteComponent(
    part(() => import("@/features/orders/orders-page")),
    "OrdersPage",
  ),
});

export const PANELS = ["plan", "changes", "checks", "pull-request", "info"] as const;
export type Panel = (typeof PANELS)[number];

const order = createRoute({
  getParentRoute: () => root,
  path: "/orders/$id",
  validateSearch: (search: Record<string, unknown>): { panel?: Panel } => ({
    panel: PANELS.find((panel) => panel === search.panel),
  }),
  component: lazyRouteComponent(
    part(() => import("@/features/order/order-page")),
    "OrderPage",
  ),
});

export type HomeSearch = { repository_url?: string; prompt?: string };

const home = createRoute({
  getParentRoute: () => root,
  path: "/",
  staticData: { title: "Home" },
  validateSearch: (search: Record<string, unknown>): HomeSearch => ({
    repository_url: text(search.repository_url),
    prompt: text(search.prompt),
  }),
  component: lazyRouteComponent(
    part(() => import("@/features/home/home-page")),
    "HomePage",
  ),
});

const tree = root.addChildren([
  home,
  orders,
  order,
  page(
    "/inbox",
    "Inbox",
    lazyRouteComponent(
      part(() => import("@/features/inbox/inbox-page")),
      "InboxPage",
    ),
  ),
  page(
    "/repositories",
    "Repositories",
    lazyRouteComponent(
      part(() => import("@/features/repositories/repositories-page")),
      "RepositoriesPage",
    ),
  ),
  page(
    "/repositories/$id",
    "Repository",
    lazyRouteComponent(
      part(() => import("@/features/repositories/repository-page")),
      "RepositoryPage",
    ),
  ),
  page(
    "/workflows",
    "Workflows",
    lazyRouteComponent(
      part(() => import("@/features/workflows/workflows-page")),
      "WorkflowsPage",
    ),
  ),
  page(
    "/workflows/$name",
    "Workflow",
    lazyRouteComponent(
      part(() => import("@/features/workflows/workflow-page")),
      "WorkflowPage",
    ),
  ),
  page(
    "/local-forge/pull-requests",
    "Pull requests",
    lazyRouteComponent(
      part(() => import("@/features/pull-requests/pull-requests-page")),
      "PullRequestsPage",
    ),
  ),
  page(
    "/local-forge/pull-requests/$number",
    "Pull request",
    lazyRouteComponent(
      part(() => import("@/features/pull-requests/pull-request-page")),
      "PullRequestPage",
    ),
  ),
  page(
    "/settings",
    "Settings",
    lazyRouteComponent(
      part(() => import("@/features/settings/settings-page")),
      "SettingsPage",
    ),
  ),
]);

export const router = createRouter({
  routeTree: tree,
  defaultPreload: "intent",
  defaultPendingMs: 200,
  defaultPendingComponent: () => (
    <Page title="Loading">
      <SkeletonRows />
    </Page>
  ),
  defaultErrorComponent: ({ error, reset }) => (
    <ErrorMessage fault={error} onRetry={error instanceof ChunkMissing ? () => location.reload() : reset} />
  ),
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
