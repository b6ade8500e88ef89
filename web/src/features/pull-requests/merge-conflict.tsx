import { useNavigate } from "@tanstack/react-router";
import { GitMergeConflict } from "lucide-react";
import type { Problem, ShownPullRequest } from "@/api/client";
import { Button } from "@/components/ui/button";
import { plainText } from "@/lib/advice";
import { keepDraft } from "@/lib/draft";

/** A merge conflict, and the two ways to resolve it: by hand, or with a new order from the current base. */
export function MergeConflict({ pull, problem }: { pull: ShownPullRequest; problem: Problem }) {
  const navigate = useNavigate();
  const { branch, base, repository_url, title } = pull;
  const startOver = () => {
    keepDraft("repository", repository_url);
    keepDraft("branch", base);
    keepDraft("task", `${title}\n\nCarry over the changes of the branch ${branch}, which no longer merges.`);
    void navigate({ to: "/" });
  };
  return (
    <section
      role="alert"
      aria-label="Merge conflict"
      className="mt-4 rounded-lg border border-destructive/40 bg-destructive/5 p-4"
    >
      <p className="flex items-center gap-2 font-medium">
        <GitMergeConflict aria-hidden className="size-4 shrink-0 text-destructive" />
        <span className="min-w-0 break-words">{problem.detail}</span>
      </p>
      <p className="mt-1 text-[13px] text-muted-foreground">{plainText(problem.hint)}</p>
      <details className="mt-3 text-[13px]">
        <summary className="cursor-pointer">Resolve it by hand</summary>
        <pre className="mt-2 overflow-x-auto rounded-md border bg-muted/60 p-3 font-mono text-xs">
          {`git checkout ${branch}\ngit merge ${base}\n# resolve the conflicts\ngit commit`}
        </pre>
        <p className="mt-2 text-muted-foreground">Then merge again here.</p>
      </details>
      <Button size="sm" className="mt-3" onClick={startOver}>
        Start a new order on {base}
      </Button>
    </section>
  );
}
