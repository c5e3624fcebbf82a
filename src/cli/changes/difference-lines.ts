import { visible } from "../../text/visible.ts";
import type { Output } from "../output/output.ts";
import type { DefinitionDifference } from "../../host/definitions/definition-difference.ts";
import { textDifference, type TextPiece } from "../../text/text-difference.ts";

/** Longer texts are compared word by word. */
const SHORT = 80;
/** Lines without a change around one with a change. */
const AROUND = 2;
/** Words without a change that are shown before and after one with a change. */
const NEAR = 60;

type Styling = Pick<Output, "style">;

/** A difference for people: the place, then what is removed (-) and added (+). */
export function differenceLines(difference: DefinitionDifference, out: Styling): string[] {
  const { place, what, before, after } = difference;
  const title = what === "changed" ? visible(place) : `${visible(place)} (${what})`;
  return [`  ${out.style("bold", title)}`, ...bodyLines(before, after, out).map((line) => `    ${line}`)];
}

function bodyLines(before: unknown, after: unknown, out: Styling): string[] {
  if (typeof before !== "string" || typeof after !== "string") {
    return [...marked("-", before, out), ...marked("+", after, out)];
  }
  if (before.includes("\n") || after.includes("\n")) return changedLines(textDifference(before, after), out);
  if (before.length <= SHORT && after.length <= SHORT) return [...marked("-", before, out), ...marked("+", after, out)];
  return [
    textDifference(before, after)
      .map((piece, index, all) => inline(piece, { index, all }, out))
      .join(""),
  ];
}

function marked(mark: "-" | "+", value: unknown, out: Styling): string[] {
  if (value === undefined) return [];
  const style = mark === "-" ? "red" : "green";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.split(/\r?\n/).map((line) => out.style(style, `${mark} ${visible(line)}`));
}

/** As `git diff --word-diff` shows it. */
function inline({ kind, text }: TextPiece, { index, all }: { index: number; all: readonly TextPiece[] }, out: Styling) {
  const shown = visible(text);
  if (kind === "removed") return out.style("red", `[-${shown}-]`);
  if (kind === "added") return out.style("green", `{+${shown}+}`);
  const head = index === 0 ? "" : shown.slice(0, NEAR);
  const tail = index === all.length - 1 ? "" : shown.slice(-NEAR);
  return shown.length <= head.length + tail.length + 3 ? shown : `${head} … ${tail}`;
}

function changedLines(pieces: readonly TextPiece[], out: Styling): string[] {
  return pieces.flatMap(({ kind, text }, index) => {
    const lines = text.replace(/\n$/, "").split("\n");
    if (kind === "removed") return lines.map((line) => out.style("red", `- ${visible(line)}`));
    if (kind === "added") return lines.map((line) => out.style("green", `+ ${visible(line)}`));
    const head = index === 0 ? 0 : AROUND;
    const tail = index === pieces.length - 1 ? 0 : AROUND;
    const hidden = lines.length - head - tail;
    const same = (line: string) => `  ${visible(line)}`;
    if (hidden <= 1) return lines.map(same);
    const between = out.style("dim", `  … ${hidden} lines without changes`);
    return [...lines.slice(0, head).map(same), between, ...lines.slice(lines.length - tail).map(same)];
  });
}
