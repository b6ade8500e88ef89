import { Page } from "@/components/page";

export function PullRequestsPage() {
  return <Page title="PullRequests">{null}</Page>;
}
