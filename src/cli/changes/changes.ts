import { wrongUsage } from "../command/command-line.ts";
import { type Options, defineCommand } from "../command/command.ts";
import type { Output } from "../output/output.ts";
import { showTable } from "../output/table.ts";
import { OPERATED_OPTIONS, type TenantOperations, openTenant, tenantOption } from "../store/open-operations.ts";
import { asNexusError, NexusError } from "../../errors/nexus-error.ts";
import type { DefinitionDifference } from "../../host/definitions/definition-difference.ts";
import { definitionName, kindOf } from "../../host/definitions/held-definition.ts";
import { unknownName } from "../../host/directory/unknown-name.ts";
import { CHANGES, type ChangeView, type ChangeDetails } from "../../operations/changes.ts";
import { sha256 } from "../../text/digest.ts";
import { agoText } from "../../text/duration.ts";
import { nearestName } from "../../text/nearest-name.ts";
import { quoteWord } from "../../text/shell-words.ts";
import { textDifference, type TextPiece } from "../../text/text-difference.ts";
import { visible } from "../../text/visible.ts";

const CHANGES_OPTIONS = {
  tenant: tenantOption(" of the servers"),
  ...OPERATED_OPTIONS,
} as const satisfies Options;

/** What waits to be accepted. */
function pendingOf({ client, tenant }: TenantOperations, server?: string): Promise<ChangeView[]> {
  return client.list(CHANGES.listChanges, { tenant, server });
}

/** What the user named, and what of it waits to be accepted. */
interface NamedChange {
  server: string;
  kind: ChangeView["kind"];
  name: string;
  pending: ChangeView[];
}

/** Finds `server.tool`, `server/prompts/NAME`, `server/resources/URI` or `server/templates/URI`; throws if it is unknown. */
async function findNamed(asked: TenantOperations, text: string): Promise<NamedChange> {
  const { client, tenant, again } = asked;
  const [, server = "", tool, list, other] = FORM.exec(text) ?? [];
  // The expression names no other kinds.
  const kind = tool === undefined ? (list as ChangeView["kind"] | undefined) : "tool";
  const given = tool ?? other;
  if (kind === undefined || given === undefined) throw notAName(text, again);
  const known = await client.list(CHANGES.listDefinitions, { tenant, server });
  const ofKind = known.filter((each) => each.kind === kind);
  // Names with invisible characters cannot be typed, so they can be written as they are shown.
  const found = ofKind.find(({ name }) => name === given) ?? ofKind.find(({ name }) => visible(name) === given);
  if (!found) throw unknown(text, kind, { known, again });
  const { name } = found;
  const pending = (await pendingOf(asked, server)).filter((each) => each.kind === kind && each.name === name);
  return { server, kind, name, pending };
}

/** The name of a definition as commands take it. */
function fullName({ server, kind, name }: Pick<NamedChange, "server" | "kind" | "name">): string {
  return definitionName({ server, kind: kindOf(kind) ?? "tools", name });
}

/** Each thing once: what is different for callers with certain capabilities is part of the same change. */
function oncePerName(pending: readonly ChangeView[]): ChangeView[] {
  const byName = new Map<string, ChangeView>();
  for (const each of pending) {
    const name = fullName(each);
    const known = byName.get(name);
    const what = known && known.what !== each.what ? "changed" : each.what;
    byName.set(name, { ...(known ?? each), what, since: known && known.since < each.since ? known.since : each.since });
  }
  return [...byName.values()];
}

/**
 * Stands for what waits under one name: it is another one after the server has changed it again. Servers choose their
 * definitions, so it is too long for two of them to be made alike.
 */
function pendingHash(pending: readonly Pick<ChangeView, "id" | "hash">[]): string {
  const all = pending.map(({ id, hash }) => `${id} ${hash ?? ""}`);
  return sha256(all.toSorted().join("\n")).slice(0, 32);
}

const FORM = /^([a-z][a-z0-9-]*)(?:\.([^]+)|\/(tool|prompt|resource|template)s\/([^]+))$/;

function notAName(text: string, again: string) {
  return unknownName("tool", text, {
    hint: `Write server.tool, server/prompts/NAME, server/resources/URI or server/templates/URI. "nexus mcp changes list${again}" lists the changes.`,
  });
}

function unknown(
  text: string,
  kind: ChangeView["kind"],
  { known, again }: { known: readonly Pick<NamedChange, "server" | "kind" | "name">[]; again: string },
) {
  const near = nearestName(
    text,
    known.map((each) => fullName(each)),
  );
  const meant = near === undefined ? "" : `Did you mean "${near}"? `;
  return unknownName(kind, text, { hint: `${meant}"nexus mcp changes list${again}" lists the changes.` });
}

const STYLES = { changed: "yellow", added: "green", removed: "red" } as const;

/** nexus mcp changes list */
export const changesList = defineCommand({
  usage: "nexus mcp changes list [--server ID]",
  description: `Lists tools, prompts and resources that are not as they were accepted: servers changed, added or removed them. What a server
lists first is accepted. Gateways notice changes when they read the lists of servers. Where a server is pinned, changed and
added things are neither listed nor used until they are accepted.`,
  options: { server: { type: "string", value: "ID", help: "only this server" }, ...CHANGES_OPTIONS },
  examples: [
    ["nexus mcp changes list", "what changed, one per line"],
    ["nexus mcp changes list --gateway https://gateway.example", "at this gateway, with the key in NEXUS_KEY"],
    [
      "nexus mcp changes list --server github --json",
      `{"items":[{"server":"github","kind":"tool","name":"search","what":"changed","since":"…"}]}`,
    ],
  ],

  async run(context) {
    const { out, options } = context;
    await using asked = await openTenant(context);
    const { again } = asked;
    const pending = oncePerName(await pendingOf(asked, options.server));
    if (out.json) return out.value({ items: pending.map(forPrograms) });
    const rows = pending.map((each) => [
      visible(fullName(each)),
      each.kind,
      { text: each.what, style: STYLES[each.what] },
      agoText(Date.parse(each.since)),
    ]);
    showTable(out, rows, "Nothing has changed.");
    if (pending.length === 0) return;
    out.note(`To see what is different: nexus mcp changes show NAME${again}`);
    out.note(`To accept it: nexus mcp changes accept NAME${again}`);
  },
});

function forPrograms({ server, kind, name, what, since }: ChangeView): object {
  return { server, kind, name, what, since };
}

/** nexus mcp changes show github.search */
export const changesShow = defineCommand({
  usage: "nexus mcp changes show <server.tool>",
  description: `Shows what is different between a definition as it was accepted and as the server lists it now: texts, arguments,
annotations, and everything else. Invisible characters are escaped. The command that it prints accepts exactly what is shown.
Other kinds: server/prompts/NAME, server/resources/URI, server/templates/URI.`,
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

/** nexus mcp changes accept github.search */
export const changesAccept = defineCommand({
  usage: "nexus mcp changes accept <server.tool>… [--hash HASH] | --server ID | --all",
  description: `Accepts definitions as the servers list them now. Running gateways notice it within a second: what was held is listed and
can be used again. With the --hash that "nexus mcp changes show" prints, only what was shown is accepted. Other kinds:
server/prompts/NAME, server/resources/URI, server/templates/URI.`,
  words: { min: 0, max: Infinity },
  options: {
    hash: {
      type: "string",
      value: "HASH",
      help: "refuse a definition that has changed since it was shown; for one name",
    },
    server: { type: "string", value: "ID", help: "accept everything of this server" },
    all: { type: "boolean", help: "accept everything of all servers" },
    ...CHANGES_OPTIONS,
  },
  examples: [
    ["nexus mcp changes accept github.search", "this tool, as it is listed now"],
    [
      "nexus mcp changes accept github.search --hash 4c1f0e9b2a7d83655e0c9f1ab3d27c84",
      "the same, unless it has changed since it was shown",
    ],
    ["nexus mcp changes accept --server github", "everything that changed in this server"],
    [
      "nexus mcp changes accept github.search --gateway https://gateway.example",
      "at this gateway, with the key of an admin in NEXUS_KEY",
    ],
    [
      "nexus mcp changes accept --all --json",
      `{"accepted":[{"server":"github","kind":"tool","name":"search","what":"changed"}]}`,
    ],
  ],

  async run(context) {
    const { out, words, options } = context;
    if (options.hash !== undefined && words.length !== 1) {
      throw wrongUsage("--hash is for one name", "Use the command that nexus mcp changes show NAME prints.");
    }
    requireOneWay({ names: words.length > 0, "--server": options.server !== undefined, "--all": options.all === true });
    await using asked = await openTenant(context);
    const { chosen, unchanged } = await choose(asked, words, options.server);
    const [first] = chosen;
    if (first && options.hash !== undefined && options.hash !== pendingHash(chosen))
      throw changedAgain(first, asked.again);
    const ids = new Set(await accept(asked, chosen));
    const accepted = chosen.filter(({ id }) => ids.has(id));
    const other = chosen.find(({ id }) => !ids.has(id));
    if (!other || accepted.length > 0) tellAccepted(out, accepted);
    for (const name of unchanged) out.note(`${visible(name)} has not changed: there is nothing to accept.`);
    if (chosen.length === 0 && unchanged.length === 0) out.note("There is nothing to accept.");
    if (other) throw changedAgain(other, asked.again);
  },
});

/** The most that an operation accepts at once. */
const AT_ONCE = 1000;

/** Returns the ids of those that were accepted: one that has changed again is not. */
async function accept(asked: TenantOperations, pending: readonly ChangeView[]): Promise<string[]> {
  const accepted: string[] = [];
  for (let at = 0; at < pending.length; at += AT_ONCE) {
    accepted.push(...(await acceptSome(asked, pending.slice(at, at + AT_ONCE))));
  }
  return accepted;
}

/** All or none of them are accepted at once: those that have changed again are left out. */
async function acceptSome(asked: TenantOperations, pending: readonly ChangeView[]): Promise<string[]> {
  if (pending.length === 0) return [];
  const { client, tenant } = asked;
  const changes = pending.map(({ id, hash }) => ({ id, hash }));
  try {
    return (await client.call(CHANGES.acceptChanges, { tenant, changes })).accepted;
  } catch (error) {
    if (asNexusError(error).code !== "DEFINITION_CHANGED") throw error;
    const now = new Map((await pendingOf(asked)).map(({ id, hash }) => [id, { hash }]));
    const same = pending.filter(({ id, hash }) => now.get(id)?.hash === hash);
    if (same.length === pending.length) throw error;
    return acceptSome(asked, same);
  }
}

function tellAccepted(out: Output, pending: readonly ChangeView[]): void {
  const accepted = oncePerName(pending);
  if (out.json) {
    const items = accepted.map(({ server, kind, name, what }) => ({ server, kind, name, what }));
    return out.value({ accepted: items });
  }
  for (const each of accepted) out.line(`Accepted: ${visible(fullName(each))} (${each.kind} ${each.what})`);
}

/** Throws unless exactly one way to choose is used. */
function requireOneWay(ways: Readonly<Record<string, boolean>>): void {
  const used = Object.keys(ways).filter((way) => ways[way]);
  if (used.length === 1) return;
  const hint = "For example: nexus mcp changes accept github.search";
  if (used.length === 0) throw wrongUsage("Say what to accept: names, --server or --all", hint);
  throw wrongUsage(`${used.join(" and ")} exclude each other`, hint);
}

/** What is to be accepted, and the names of what has not changed. */
async function choose(
  asked: TenantOperations,
  names: readonly string[],
  server: string | undefined,
): Promise<{ chosen: ChangeView[]; unchanged: string[] }> {
  if (names.length > 0) {
    const named = [];
    for (const name of new Set(names)) named.push(await findNamed(asked, name));
    const unchanged = named.filter(({ pending }) => pending.length === 0).map((each) => fullName(each));
    return { chosen: named.flatMap(({ pending }) => pending), unchanged };
  }
  return { chosen: await pendingOf(asked, server), unchanged: [] };
}

function changedAgain(pending: ChangeView, again: string): NexusError {
  return new NexusError("DEFINITION_CHANGED", `${visible(fullName(pending))} has changed again, and was not accepted`, {
    server: pending.server,
    hint: `See what is different now: nexus mcp changes show ${quoteWord(visible(fullName(pending)))}${again}`,
    mayHaveReached: false,
  });
}
