import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { ListTodo, SearchX } from "lucide-react";
import { ordersQuery } from "@/api/queries";
import { Empty, ErrorMessage, SkeletonRows } from "@/components/feedback";
import { OrderRow } from "@/components/order-row";
import { Card, Page } from "@/components/page";
import { Button } from "@/components/ui/button";
import { plural } from "@/lib/format";
import type { OrdersSearch } from "@/router";
import { Filters } from "./filters";

const PAGE_SIZE = 25;
const route = getRouteApi("/orders");

export function OrdersPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const page = search.page ?? 1;
  const { page: _, ...filter } = search;
  const { data, error, refetch } = useQuery(
    ordersQuery({
      ...filter,
      created_after: dayStart(filter.created_after),
      created_before: dayEnd(filter.created_before),
      sort: filter.sort as never,
      limit: PAGE_SIZE,
      offset: (page - 1) * PAGE_SIZE,
    }),
  );
  const filtered = Object.values(filter).some(Boolean);
  const change = (changes: Partial<OrdersSearch>) =>
    void navigate({ search: (before) => ({ ...before, page: undefined, ...changes }), replace: true });

  return (
    <Page
      wide
      title="Orders"
      note={data ? plural(data.total_count, "order") : " "}
      actions={
        <Button look="primary" asChild>
          <Link to="/">New order</Link>
        </Button>
      }
    >
      <Filters
        search={search}
        repositories={data?.agent_work_orders.map((order) => order.repository_url) ?? []}
        onChange={change}
      />
      {error && !data ? <ErrorMessage fault={error} onRetry={() => void refetch()} /> : null}
      {!data && !error && <SkeletonRows rows={8} />}
      {data && !data.agent_work_orders.length && (
        <Card>
          {data.total_count > 0 ? (
            <NoSuchPage
              page={page}
              last={Math.ceil(data.total_count / PAGE_SIZE)}
              onGo={(last) => change({ page: last > 1 ? last : undefined })}
            />
          ) : filtered ? (
            <NothingFits onClear={() => void navigate({ search: {} })} />
          ) : (
            <NoOrders />
          )}
        </Card>
      )}
      {data && data.agent_work_orders.length > 0 && (
        <>
          <Card className="divide-y overflow-hidden">
            {data.agent_work_orders.map((order) => (
              <OrderRow key={order.agent_work_order_id} order={order} />
            ))}
          </Card>
          {(page > 1 || data.has_more) && (
            <nav aria-label="Pages" className="mt-4 flex items-center justify-center gap-3">
              <Button size="sm" disabled={page === 1} onClick={() => change({ page: page - 1 })}>
                Newer
              </Button>
              <span className="text-xs text-muted-foreground tabular-nums">
                Page {page} of {Math.ceil(data.total_count / PAGE_SIZE)}
              </span>
              <Button size="sm" disabled={!data.has_more} onClick={() => change({ page: page + 1 })}>
                Older
              </Button>
            </nav>
          )}
        </>
      )}
    </Page>
  );
}

const dayStart = (day?: string) => (day ? new Date(`${day}T00:00:00`).toISOString() : undefined);
const dayEnd = (day?: string) => (day ? new Date(`${day}T23:59:59.999`).toISOString() : undefined);

type PageProps = { page: number; last: number; onGo: (page: number) => void };

export function NoSuchPage({ page, last, onGo }: PageProps) {
  return (
    <Empty icon={SearchX} title={`There is no page ${page}`}>
      <p className="mb-3">The last page is {last}.</p>
      <Button size="sm" onClick={() => onGo(last)}>
        Go to page {last}
      </Button>
    </Empty>
  );
}

function NothingFits({ onClear }: { onClear: () => void }) {
  return (
    <Empty icon={SearchX} title="No matching orders">
      <p className="mb-3">Try other words or fewer filters.</p>
      <Button size="sm" onClick={onClear}>
        Clear filters
      </Button>
    </Empty>
  );
}

function NoOrders() {
  return (
    <Empty icon={ListTodo} title="No orders yet">
      <p className="mb-3">All you need is a repository and a sentence. There is a sample to try.</p>
      <Button size="sm" look="primary" asChild>
        <Link to="/">Create an order</Link>
      </Button>
    </Empty>
  );
}
