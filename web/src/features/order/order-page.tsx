import { Page } from "@/components/page";

export function OrderPage() {
  return <Page title="Order">{null}</Page>;
}
