/**
 * Markdown of agents and repositories, rendered without raw HTML. Images are named, not fetched; links are
 * marked as external.
 */

import { ExternalLink } from "lucide-react";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";

const PARTS: Components = {
  // An unsafe address was removed; its text stays.
  a: ({ href, children }) =>
    href ? (
      <a
        href={href}
        target="_blank"
        rel="noopener noreferrer nofollow"
        title={href}
        className="text-primary underline underline-offset-2"
      >
        {children}
        <ExternalLink aria-label="(opens in a new tab)" className="ml-0.5 inline size-3" />
      </a>
    ) : (
      <span>{children}</span>
    ),
  img: ({ alt, src }) => <span className="text-muted-foreground">[image: {alt || String(src ?? "")}]</span>,
  h1: ({ children }) => <p className="mt-3 mb-1 text-base font-semibold">{children}</p>,
  h2: ({ children }) => <p className="mt-3 mb-1 text-[15px] font-semibold">{children}</p>,
  h3: ({ children }) => <p className="mt-3 mb-1 font-semibold">{children}</p>,
  h4: ({ children }) => <p className="mt-2 mb-1 font-semibold">{children}</p>,
  h5: ({ children }) => <p className="mt-2 mb-1 font-semibold">{children}</p>,
  h6: ({ children }) => <p className="mt-2 mb-1 font-semibold">{children}</p>,
  p: ({ children }) => <p className="my-1.5">{children}</p>,
  ul: ({ children }) => <ul className="my-1.5 list-disc pl-5">{children}</ul>,
  ol: ({ children }) => <ol className="my-1.5 list-decimal pl-5">{children}</ol>,
  blockquote: ({ children }) => (
    <blockquote className="my-2 border-l-2 pl-3 text-muted-foreground">{children}</blockquote>
  ),
  hr: () => <hr className="my-3" />,
  code: ({ children }) => (
    <code className="rounded bg-muted px-1 py-0.5 font-mono text-[0.88em]">{children}</code>
  ),
  pre: ({ children }) => (
    <pre
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      className="my-2 overflow-x-auto rounded-md border bg-muted/60 p-3 text-xs [&_code]:bg-transparent [&_code]:p-0"
    >
      {children}
    </pre>
  ),
  table: ({ children }) => (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section tabIndex={0} aria-label="Table" className="my-2 overflow-x-auto">
      <table className="text-xs [&_td]:border [&_td]:px-2 [&_td]:py-1 [&_th]:border [&_th]:px-2 [&_th]:py-1 [&_th]:text-left">
        {children}
      </table>
    </section>
  ),
  th: ({ children }) => (children ? <th>{children}</th> : <td />),
  input: ({ checked }) => <span aria-hidden>{checked ? "☑ " : "☐ "}</span>,
};

export default function Markdown({ text }: { text: string }) {
  return (
    <ReactMarkdown remarkPlugins={[remarkGfm]} components={PARTS}>
      {text}
    </ReactMarkdown>
  );
}
