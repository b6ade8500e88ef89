/** The repository: typed or chosen from known ones, and verified before an order is created. */

import { useMutation } from "@tanstack/react-query";
import { CircleCheck, FolderGit2, LoaderCircle } from "lucide-react";
import { api, unwrap } from "@/api/client";
import { Button } from "@/components/ui/button";
import { Input } from "@/components/ui/field";
import { plainText } from "@/lib/advice";
import { repositoryName } from "@/lib/format";
import { type KnownRepository, useKnownRepositories } from "@/lib/preferences";

type Props = {
  value: string;
  onChange: (value: string) => void;
  /** Why the order was refused. */
  error?: string;
  verified: KnownRepository | null;
  onVerified: (repository: KnownRepository | null) => void;
};

export function RepositoryField({ value, onChange, error, verified, onVerified }: Props) {
  const [known, remember] = useKnownRepositories();
  const verify = useMutation({
    meta: { shown: true },
    mutationFn: (repository_url: string) =>
      unwrap(api.POST("/api/github/verify-repository", { body: { repository_url } })),
    onSuccess: ({ verification_success, repository }) => {
      if (!verification_success || !repository) return onVerified(null);
      const found = { url: repository.repository_url, branch: repository.default_branch };
      remember(found);
      onVerified(found);
      onChange(repository.repository_url);
    },
  });
  const refusal = error ?? (plainText(verify.data?.error_message) || verify.error?.message);
  const edit = (text: string) => {
    verify.reset();
    onVerified(known.find(({ url }) => url === text) ?? null);
    onChange(text);
  };
  return (
    <div>
      <label htmlFor="repository" className="mb-1.5 block text-xs font-medium text-muted-foreground">
        Repository
      </label>
      <div className="flex gap-2">
        <div className="relative min-w-0 flex-1">
          <FolderGit2 aria-hidden className="absolute top-2.5 left-3 size-4 text-muted-foreground" />
          <Input
            id="repository"
            list="known-repositories"
            value={value}
            onChange={(event) => edit(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && value) verify.mutate(value);
            }}
            placeholder="https://github.com/owner/name or /home/you/code/thing"
            autoComplete="off"
            spellCheck={false}
            aria-describedby="repository-answer"
            aria-invalid={Boolean(refusal)}
            className="pl-9 font-mono text-[13px]"
          />
          <datalist id="known-repositories">
            {known.map(({ url }) => (
              <option key={url} value={url} />
            ))}
          </datalist>
        </div>
        <Button disabled={!value || verify.isPending} onClick={() => verify.mutate(value)}>
          {verify.isPending && <LoaderCircle className="animate-spin" />}
          Connect & verify
        </Button>
      </div>
      <p id="repository-answer" role="status" className="mt-1.5 min-h-5 text-xs">
        {refusal ? (
          <span className="text-destructive">{refusal}</span>
        ) : verified ? (
          <span className="inline-flex items-center gap-1 text-success">
            <CircleCheck aria-hidden className="size-3.5" />
            Connected to {repositoryName(verified.url)}
            {verified.branch && `, default branch ${verified.branch}`}
          </span>
        ) : null}
      </p>
    </div>
  );
}
