import { Page } from "@/components/page";

export function WorkflowPage() {
  return <Page title="Workflow">{null}</Page>;
}
