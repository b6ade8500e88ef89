/** The state of the chosen repository's environment, before an order is started on it. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { repositoryAtQuery } from "@/api/queries";
import { stateLine } from "@/features/repositories/state";
import { useNow } from "@/lib/now";

export function RepositoryState({ url }: { url: string }) {
  const { data, isFetched } = useQuery(repositoryAtQuery(url));
  const now = useNow();
  return (
    <p className="min-h-4 truncate text-xs text-muted-foreground">
      {isFetched && url && (
        <>
          {"Environment: "}
          {data ? (
            <Link
              to="/repositories/$id"
              params={{ id: data.repository_id }}
              title={stateLine(data, now)}
              className="underline underline-offset-2 hover:text-foreground"
            >
              {stateLine(data, now)}
            </Link>
          ) : (
            stateLine(null, now)
          )}
        </>
      )}
    </p>
  );
}
