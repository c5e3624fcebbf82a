import { visible } from "../../text/visible.ts";
import type { Style } from "../output/output.ts";
import type { Check, CheckVerdict } from "./check.ts";
import type { Examined } from "./checkup.ts";

export interface Sheet {
  style: (style: Style, text: string) => string;
  /** Advice with the commands of this program as they are typed. */
  typed: (text: string) => string;
  /** Undefined if lines are not limited. */
  columns: number | undefined;
}

const MARKS: Record<CheckVerdict, readonly [mark: string, style: Style]> = {
  ok: ["✓", "green"],
  note: ["·", "cyan"],
  warning: ["!", "yellow"],
  failed: ["✗", "red"],
  skipped: ["-", "dim"],
};

/** The findings about one server for people: a line for each check, with details and fixes below it. */
export function reportLines({ server, checks }: Examined, title: string, sheet: Sheet): string[] {
  const width = Math.max(...checks.map((check) => check.title.length));
  const heading = title === "" ? sheet.style("bold", server) : `${sheet.style("bold", server)}  ${visible(title)}`;
  const lines = [heading];
  const left: Check[] = [];
  for (const check of checks) {
    // Checks that were skipped for the same reason share one line at the end.
    if (check.verdict === "skipped" && checks.filter(({ evidence }) => evidence[0] === check.evidence[0]).length > 1) {
      left.push(check);
    } else lines.push(...checkLines(check, width, sheet));
  }
  if (left.length > 0) {
    const names = `${left.map((check) => check.title).join(", ")}: ${left[0]?.evidence[0] ?? ""}`;
    lines.push(...hanging(`  ${mark("skipped", sheet)} ${"not checked".padEnd(width)}  `, [names], { width, sheet }));
  }
  return lines;
}

/** A server without problems, if there are many servers. */
export function briefLine({ server, verdict }: Examined, title: string, sheet: Sheet): string {
  // Notes are not problems: the summary counts them as good.
  return `${mark(verdict === "note" ? "ok" : verdict, sheet)} ${sheet.style("bold", server)}${title === "" ? "" : `  ${visible(title)}`}`;
}

function checkLines({ title, verdict, evidence, advice = [] }: Check, width: number, sheet: Sheet): string[] {
  const lead = `  ${mark(verdict, sheet)} ${title.padEnd(width)}  `;
  return [
    ...hanging(lead, evidence, { width, sheet }),
    ...advice.flatMap((text) =>
      hanging(`${" ".repeat(width + 6)}→ `, [sheet.typed(text)], { width: width + 2, sheet }),
    ),
  ];
}

/** The overall result. */
export function summaryLine(
  examined: readonly Examined[],
  brokenFiles: number,
  { style }: Pick<Sheet, "style">,
): string {
  const failed = examined.filter(({ verdict }) => verdict === "failed").map(({ server }) => server);
  const warned = examined.filter(({ verdict }) => verdict === "warning").length;
  const good = examined.length - failed.length - warned;
  const parts = [
    `${examined.length} ${examined.length === 1 ? "server" : "servers"} checked`,
    ...(good > 0 ? [style("green", `${good} OK`)] : []),
    ...(warned > 0 ? [style("yellow", `${warned} with warnings`)] : []),
    ...(failed.length > 0 ? [style("red", `${failed.length} failed (${failed.join(", ")})`)] : []),
    ...(brokenFiles > 0 ? [style("red", `${brokenFiles} unusable ${brokenFiles === 1 ? "file" : "files"}`)] : []),
  ];
  return parts.join(", ");
}

function mark(verdict: CheckVerdict, { style }: Pick<Sheet, "style">): string {
  const [sign, colour] = MARKS[verdict];
  return style(colour, sign);
}

/** Text after a lead; further lines are indented to its width and wrapped at the end of the terminal. */
function hanging(lead: string, texts: readonly string[], { width, sheet }: { width: number; sheet: Sheet }): string[] {
  const indent = " ".repeat(width + 6);
  const room = sheet.columns === undefined ? Infinity : Math.max(sheet.columns - indent.length, 20);
  const lines = texts.flatMap((text) => wrapped(visible(text), room));
  return (lines.length === 0 ? [""] : lines).map((line, index) => `${index === 0 ? lead : indent}${line}`.trimEnd());
}

/** Broken at spaces; a word that is too long stays whole, so that it can be copied. */
export function wrapped(text: string, room: number): string[] {
  if (text.length <= room) return [text];
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > room) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
