/** A store of whether the server is reachable, and of the last contact. */

import { useSyncExternalStore } from "react";

export type Connection = { lost: boolean; lastContact: number };

let connection: Connection = { lost: false, lastContact: Date.now() };
const listeners = new Set<() => void>();

function become(next: Connection) {
  const changed = next.lost !== connection.lost;
  connection = next;
  if (changed) for (const listener of listeners) listener();
}

export const reached = () => become({ lost: false, lastContact: Date.now() });
export const unreachable = () => become({ ...connection, lost: true });
export const isLost = () => connection.lost;

export const useConnection = () =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => connection,
  );
