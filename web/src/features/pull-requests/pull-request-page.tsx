import { Page } from "@/components/page";

export function PullRequestPage() {
  return <Page title="PullRequest">{null}</Page>;
}
