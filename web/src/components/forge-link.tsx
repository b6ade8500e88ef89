import { Link } from "@tanstack/react-router";
import { ExternalLink } from "lucide-react";
import type { ReactNode } from "react";

const OURS = /^\/local-forge\/pull-requests\/(\d+)$/;

/** The number of a pull request of the local forge. */
export function localNumber(url: string): string | null {
  const parsed = URL.parse(url);
  const loopback =
    parsed && (/^(localhost|127\.|\[::1\])/.test(parsed.hostname) || parsed.origin === location.origin);
  return (loopback && OURS.exec(parsed.pathname)?.[1]) || null;
}

/** A link to a pull request or issue: to the page of the local forge where there is one. */
export function ForgeLink({ url, children }: { url: string; children: ReactNode }) {
  const number = localNumber(url);
  const look = "text-primary hover:underline";
  if (number) {
    return (
      <Link to="/local-forge/pull-requests/$number" params={{ number }} className={look}>
        {children}
      </Link>
    );
  }
  if (!/^https?:\/\//.test(url)) return <span>{children}</span>;
  return (
    <a href={url} target="_blank" rel="noopener noreferrer" className={look}>
      {children}
      <ExternalLink aria-label="(opens in a new tab)" className="ml-1 inline size-3" />
    </a>
  );
}
