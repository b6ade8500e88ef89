/**
 * Parses terminal output into styled pieces of plain text. Colours are kept; every other escape
 * sequence is dropped, and nothing becomes markup.
 */

export type Piece = { text: string; className: string };

const COLOURS = [
  "foreground",
  "destructive",
  "success",
  "warning",
  "info",
  "violet",
  "primary",
  "muted-foreground",
];
const ESCAPE = String.fromCharCode(27);
const SEQUENCE = new RegExp(
  // Colours; other control sequences; titles and links; the rest of two characters.
  `${ESCAPE}\\[([0-9;]*)m|${ESCAPE}\\[[0-?]*[ -/]*[@-~]|${ESCAPE}\\][^\\u0007${ESCAPE}]*(?:\\u0007|${ESCAPE}\\\\)?|${ESCAPE}.?`,
  "g",
);
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f]/g;
const CLASSES: Record<string, string> = {
  foreground: "text-foreground",
  destructive: "text-destructive",
  success: "text-success",
  warning: "text-warning",
  info: "text-info",
  violet: "text-violet",
  primary: "text-primary",
  "muted-foreground": "text-muted-foreground",
};

export function pieces(output: string): Piece[] {
  const text = output
    .replace(/\r+\n/g, "\n")
    .replace(/^.*\r(?!\n)/gm, "")
    .replace(CONTROLS, "");
  const found: Piece[] = [];
  let colour = "";
  let bold = false;
  let from = 0;
  const add = (to: number) => {
    if (to > from) {
      const className = [colour && CLASSES[colour], bold && "font-semibold"].filter(Boolean).join(" ");
      found.push({ text: text.slice(from, to), className });
    }
  };
  for (const match of text.matchAll(SEQUENCE)) {
    add(match.index);
    from = match.index + match[0].length;
    for (const code of (match[1] ?? "none").split(";")) {
      if (code === "" || code === "0") [colour, bold] = ["", false];
      else if (code === "1") bold = true;
      else if (code === "22") bold = false;
      else if (code === "39") colour = "";
      else if (/^(3|9)[0-7]$/.test(code)) colour = COLOURS[Number(code.at(-1))] ?? "";
    }
  }
  add(text.length);
  return found;
}
