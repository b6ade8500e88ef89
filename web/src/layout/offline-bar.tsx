/** Shown while the server is unreachable, with the time of the last contact; reconnects. */

import { useQueryClient } from "@tanstack/react-query";
import { WifiOff } from "lucide-react";
import { useEffect } from "react";
import { api } from "@/api/client";
import { useConnection } from "@/events/connection";
import { backoff } from "@/events/feed";
import { clock } from "@/lib/format";

export function OfflineBar() {
  const { lost, lastContact } = useConnection();
  const client = useQueryClient();
  useEffect(() => {
    if (!lost) return;
    let failures = 0;
    let timer: ReturnType<typeof setTimeout>;
    const look = () => {
      failures += 1;
      timer = setTimeout(
        () => void api.GET("/health").then(() => client.invalidateQueries(), look),
        backoff(failures),
      );
    };
    look();
    return () => clearTimeout(timer);
  }, [lost, client]);
  if (!lost) return null;
  return (
    <div role="status" className="flex items-center gap-2 border-b bg-warning/15 px-4 py-1.5 text-xs">
      <WifiOff aria-hidden className="size-3.5 text-warning" />
      Connection lost. Reconnecting… Last updated {clock(lastContact)}.
    </div>
  );
}
