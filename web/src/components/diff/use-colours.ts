/** Whether the syntax highlighter is loaded; the diff view renders nothing before. */

import { preloadHighlighter } from "@pierre/diffs";
import { useEffect, useState } from "react";

export const THEMES = { light: "github-light-high-contrast", dark: "github-dark-high-contrast" } as const;

export function useColours(): boolean {
  const [ready, setReady] = useState(false);
  useEffect(() => {
    let wanted = true;
    const options = {
      themes: Object.values(THEMES),
      langs: ["text" as const],
      preferredHighlighter: "shiki-js" as const,
    };
    void preloadHighlighter(options).then(() => wanted && setReady(true));
    return () => {
      wanted = false;
    };
  }, []);
  return ready;
}
