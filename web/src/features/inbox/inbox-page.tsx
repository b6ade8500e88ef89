import { Page } from "@/components/page";

export function InboxPage() {
  return <Page title="Inbox">{null}</Page>;
}
