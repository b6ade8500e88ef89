/** The state of the chosen repository's environment, before an order is started on it. */

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { repositoriesQuery } from "@/api/queries";
import { stateLine } from "@/features/repositories/state";
import { useNow } from "@/lib/now";

/** `connected`: the repository was verified, whether or not the server knew it before. */
export function RepositoryState({ url, connected }: { url: string; connected: boolean }) {
  const { data: page, isFetched } = useQuery(repositoriesQuery);
  const now = useNow();
  const data = page?.repositories.find(({ repository_url }) => repository_url === url);
  return (
    <p className="min-h-4 truncate text-xs text-muted-foreground">
      {isFetched && (data || connected) && (
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
