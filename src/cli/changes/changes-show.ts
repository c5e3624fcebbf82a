import { CHANGES, type ChangeDetails } from "../../operations/changes.ts";
import { agoText } from "../../text/duration.ts";
import { quoteWord } from "../../text/shell-words.ts";
import { visible } from "../../text/visible.ts";
import { defineCommand } from "../command/command.ts";
import type { Output } from "../output/output.ts";
import { CHANGES_OPTIONS, findNamed, fullName, pendingHash } from "./changed-names.ts";
import { openTenant } from "../store/open-operations.ts";
import type { DefinitionDifference } from "../../host/definitions/definition-difference.ts";
import { textDifference, type TextPiece } from "../../text/text-difference.ts";

/** nexus mcp changes show github.search */
export const changesShow = defineCommand({
  usage: "nexus mcp changes show <server.tool>",
  description: `Shows what is different between a definition as it was accepted and as the server lists it now: texts, arguments,
annotations, and everything else. Invisible characters are escaped. The command that it prints accepts exactly what is shown.
Other kinds: server/prompts/NAME, server/resources/URI, server/templates/URI.`,
  words: { min: 1, max: 1 },
  options: CHANGES_OPTIONS,
  examples: [
    ["nexus mcp changes show github.search", "what changed in this tool"],
    ["nexus mcp changes show github/prompts/review --json", "the definitions before and now, and their differences"],
  ],

  async run(context) {
    const { out, words } = context;
    await using asked = await openTenant(context);
    const named = await findNamed(asked, words[0] ?? "");
    const { server, kind, name } = named;
    const { client, tenant } = asked;
    const pending: ChangeDetails[] = [];
    for (const { id } of named.pending) pending.push(await client.call(CHANGES.getChange, { tenant, id }));
    if (out.json) {
      const items = pending.map(({ id: _id, forSome: _forSome, hash: _hash, ...shown }) => shown);
      const hash = pending.length === 0 ? null : pendingHash(pending);
      return out.value({ server, kind, name, hash, items });
    }
    const title = visible(fullName(named));
    if (pending.length === 0) return out.line(`${title} is as it was accepted.`);
    for (const each of pending) tell(each, title, out);
    const exactly = `--hash ${pendingHash(pending)}`;
    out.note(`To accept it: nexus mcp changes accept ${quoteWord(title)}${asked.again} ${exactly}`);
  },
});

function tell(pending: ChangeDetails, title: string, out: Output): void {
  const { kind, what, since, forSome, current, accepted, differences } = pending;
  const who = forSome ? ", for callers with certain capabilities" : "";
  out.line(`${out.style("bold", title)}: ${kind} ${what} ${agoText(Date.parse(since))}${who}`);
  for (const difference of differences) for (const line of differenceLines(difference, out)) out.line(line);
  if (what === "changed") return;
  const text = JSON.stringify(what === "added" ? current : accepted, undefined, 2);
  const [mark, style] = what === "added" ? (["+", "green"] as const) : (["-", "red"] as const);
  for (const line of text.split("\n")) out.line(out.style(style, `  ${mark} ${visible(line)}`));
}

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
