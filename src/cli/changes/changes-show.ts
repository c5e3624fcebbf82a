import { CHANGES, type ChangeDetails } from "../../operations/changes.ts";
import { agoText } from "../../text/duration.ts";
import { quoteWord } from "../../text/shell-words.ts";
import { visible } from "../../text/visible.ts";
import { defineCommand } from "../command/command.ts";
import type { Output } from "../output/output.ts";
import { CHANGES_OPTIONS, findNamed, fullName, openDefinitions, pendingHash } from "./changed-names.ts";
import { differenceLines } from "./difference-lines.ts";

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
    await using asked = await openDefinitions(context);
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
