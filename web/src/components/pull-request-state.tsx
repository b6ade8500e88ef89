import { GitMerge, GitPullRequest, GitPullRequestClosed, GitPullRequestDraft } from "lucide-react";
import { cn } from "@/lib/cn";

type Props = { state: "open" | "closed" | "merged"; draft: boolean };

export function PullRequestState({ state, draft }: Props) {
  const [Icon, word, look] =
    state === "merged"
      ? ([GitMerge, "Merged", "text-violet bg-violet/10"] as const)
      : state === "closed"
        ? ([GitPullRequestClosed, "Closed", "text-destructive bg-destructive/10"] as const)
        : draft
          ? ([GitPullRequestDraft, "Draft", "text-muted-foreground bg-muted"] as const)
          : ([GitPullRequest, "Ready for review", "text-success bg-success/10"] as const);
  return (
    <span
      className={cn("inline-flex items-center gap-1.5 rounded-full px-2 py-0.5 text-xs font-medium", look)}
    >
      <Icon aria-hidden className="size-3.5" />
      {word}
    </span>
  );
}
