/** Every address, and the page that answers it. Pages are loaded when they are first wanted. */

import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  useRouterState,
} from "@tanstack/react-router";
import { Compass } from "lucide-react";
import { useEffect } from "react";
import type { Status } from "@/api/client";
import { Empty, SkeletonRows, Trouble } from "@/components/feedback";
import { Page } from "@/components/page";
import { STATUSES } from "@/components/status-pill";
import { Shell } from "@/layout/shell";

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
    <Page title="There is no such page">
      <Empty icon={Compass} title="Perhaps it moved">
        The rail leads to those that exist; Ctrl K finds an order by its name.
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
  component: lazyRouteComponent(() => import("@/features/orders/orders-page"), "OrdersPage"),
});

export const PANELS = ["plan", "changes", "checks", "pull-request", "info"] as const;
export type Panel = (typeof PANELS)[number];

const order = createRoute({
  getParentRoute: () => root,
  path: "/orders/$id",
  validateSearch: (search: Record<string, unknown>): { panel?: Panel } => ({
    panel: PANELS.find((panel) => panel === search.panel),
  }),
  component: lazyRouteComponent(() => import("@/features/order/order-page"), "OrderPage"),
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
  component: lazyRouteComponent(() => import("@/features/home/home-page"), "HomePage"),
});

const tree = root.addChildren([
  home,
  orders,
  order,
  page(
    "/inbox",
    "Inbox",
    lazyRouteComponent(() => import("@/features/inbox/inbox-page"), "InboxPage"),
  ),
  page(
    "/workflows",
    "Workflows",
    lazyRouteComponent(() => import("@/features/workflows/workflows-page"), "WorkflowsPage"),
  ),
  page(
    "/workflows/$name",
    "Workflow",
    lazyRouteComponent(() => import("@/features/workflows/workflow-page"), "WorkflowPage"),
  ),
  page(
    "/local-forge/pull-requests",
    "Pull requests",
    lazyRouteComponent(() => import("@/features/pull-requests/pull-requests-page"), "PullRequestsPage"),
  ),
  page(
    "/local-forge/pull-requests/$number",
    "Pull request",
    lazyRouteComponent(() => import("@/features/pull-requests/pull-request-page"), "PullRequestPage"),
  ),
  page(
    "/settings",
    "Settings",
    lazyRouteComponent(() => import("@/features/settings/settings-page"), "SettingsPage"),
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
  defaultErrorComponent: ({ error, reset }) => <Trouble fault={error} onRetry={reset} />,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
