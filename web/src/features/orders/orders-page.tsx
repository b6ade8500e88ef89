import { Page } from "@/components/page";

export function OrdersPage() {
  return <Page title="Orders">{null}</Page>;
}
