import { durationText } from "../../text/duration.ts";
import type { Client } from "../../client/client.ts";
import type { CallOptions } from "../../client/conversation/call-scope.ts";
import { visible } from "../../text/visible.ts";
import { pluralize } from "../output/amounts.ts";
import {
  askServers,
  exitCodeFor,
  failuresForPrograms,
  reportFailures,
  type ServerAnswers,
} from "../command/ask-servers.ts";
import { wrongUsage } from "../command/command-line.ts";
import { asksAnyone, IN_PLACE, TENANT, type CommandContext, type Options } from "../command/command.ts";
import { nothingToAsk } from "./no-servers.ts";
import type { Output } from "../output/output.ts";
import { acceptedItems } from "../command/pinned-lists.ts";
import type { ListKind } from "../../protocol/list-kinds.ts";
import type { ServerSet } from "../command/server-set.ts";
import type { Sighting } from "../command/sightings.ts";
import { cut, padded } from "../output/text-width.ts";

/** Options of commands that list from one server or all. */
export const LIST_OPTIONS = {
  server: { type: "string", value: "NAME", help: "list only this server; same as its name as argument" },
  details: { type: "boolean", help: "show every item, even for many servers" },
  ...IN_PLACE,
  ...TENANT,
} as const satisfies Options;

/** With at least this many servers, each is one line. */
export const MANY_SERVERS = 6;

/** One kind of list. */
export interface Listing<T extends object> {
  one: string;
  kind: ListKind;
  nameOf: (item: T) => string;
  list: (client: Client, options: CallOptions) => Promise<T[]>;
  /** The items that may be used, if an entry forbids some. */
  allowed?: (items: readonly T[], server: string, servers: ServerSet) => readonly T[];
  /** The items that were asked for. */
  matches?: (item: T) => boolean;
  /** An item for people: lines that fit into the width. */
  lines: (item: T, out: Output, width: number | undefined) => string[];
  /** What to remember. */
  seen?: (items: readonly T[]) => Pick<Sighting, "tools" | "prompts">;
}

/** The list of one server. */
interface Listed<T> {
  /** The server's id; for one in place, its own name. */
  title: string;
  shown: readonly T[];
  /** The number of items that are not shown. */
  denied: number;
  /** The names of items that are held until they are accepted. */
  held: readonly string[];
  unmatched: number;
  /** How long connecting and listing took. */
  ms: number;
}

/** The server of a list command: `nexus mcp tools github`, or `--server github`. */
function namedServer({ words: [word], options: { server } }: ListContext): string | undefined {
  if (word === undefined || server === undefined) return word ?? server;
  throw wrongUsage(`"${word}" and --server ${server} cannot be used together`, "Name the server once.");
}

type ListContext = CommandContext<{ readonly server?: string | undefined; readonly details?: boolean | undefined }>;

/** Prints the lists of the selected servers in the order of the configuration, then a summary. */
export async function listFromServers<T extends object>(context: ListContext, listing: Listing<T>): Promise<number> {
  const { out } = context;
  const startedAt = performance.now();
  await using servers = await context.openServers(asksAnyone);
  const ids = servers.pick(namedServer(context)).map(({ id }) => id.length);
  const isBrief = ids.length >= MANY_SERVERS && !context.options.details && !listing.matches;
  const width = Math.max(...ids);
  const { answers, failures } = await collect(context, servers, listing, (listed) => {
    if (out.json) return;
    for (const line of isBrief ? [briefLine(listed, listing, { out, width })] : block(listed, listing, out))
      out.line(line);
  });
  if (out.json) {
    const items = answers.flatMap(({ server, value }) =>
      value.shown.map((item) => Object.assign({ server }, item, { server })),
    );
    out.value({ items, errors: failuresForPrograms(failures) });
  } else if (answers.length + failures.length === 0) {
    out.note(nothingToAsk(servers));
  } else {
    reportFailures(out, failures);
    if (answers.length > 0 || failures.length > 1)
      out.note(footer({ answers, failures, servers, context, listing, startedAt }));
    if (isBrief) out.note(`Name a server to see its ${listing.one}s, or add --details to see all.`);
  }
  return exitCodeFor(answers.length, failures);
}

/** Asks the servers; throws the failure if only one was named. */
export async function collect<T extends object>(
  context: ListContext,
  servers: ServerSet,
  listing: Listing<T>,
  onListed: (listed: Listed<T>) => void = () => {},
): Promise<ServerAnswers<Listed<T>>> {
  const { signal } = context;
  const server = namedServer(context);
  const definitions = servers.pick(server);
  const asked = await askServers(servers, definitions, {
    signal,
    ask: async (client, definition, connectMs): Promise<Listed<T>> => {
      const startedAt = performance.now();
      const all = await listing.list(client, { signal });
      const { kind, nameOf } = listing;
      const accepted = await acceptedItems(servers, definition, { kind, client, items: all, nameOf });
      const allowed = listing.allowed?.(accepted, definition.id, servers) ?? accepted;
      if (listing.seen) servers.saw(definition, listing.seen(allowed));
      const shown = listing.matches ? allowed.filter(listing.matches) : allowed;
      return {
        title: (servers.inPlace ? client.serverInfo?.name : undefined) ?? definition.id,
        shown,
        denied: accepted.length - allowed.length,
        held: all.filter((item) => !accepted.includes(item)).map(nameOf),
        unmatched: allowed.length - shown.length,
        ms: connectMs + performance.now() - startedAt,
      };
    },
    onAnswer: (_server, listed) => onListed(listed),
  });
  const isNamed = server !== undefined || servers.inPlace !== undefined;
  if (isNamed && asked.failures[0]) throw asked.failures[0];
  return isNamed ? asked : { ...asked, failures: [...servers.fileProblems, ...asked.failures] };
}

function block<T extends object>({ title, shown, unmatched }: Listed<T>, listing: Listing<T>, out: Output): string[] {
  // In a search, servers without a match are left out.
  if (shown.length === 0 && unmatched > 0) return [];
  const count = out.style("dim", shown.length === 0 ? `no ${listing.one}s` : pluralize(shown.length, listing.one));
  const width = out.columns === undefined ? undefined : out.columns - 2;
  const lines = shown.flatMap((item) => listing.lines(item, out, width)).map((line) => `  ${line}`);
  return [`${out.style("bold", visible(title))}  ${count}`, ...lines, ""];
}

function briefLine<T extends object>(
  { title, shown, ms }: Listed<T>,
  { one }: Listing<T>,
  { out, width }: { out: Output; width: number },
): string {
  const count = shown.length === 0 ? `no ${one}s` : pluralize(shown.length, one);
  return `${out.style("bold", padded(visible(title), width))}  ${count.padEnd(12)}  ${out.style("dim", durationText(ms))}`;
}

/** The first line of a description, indented. */
export function summaryLines(text: unknown, out: Output, width: number | undefined): string[] {
  const [first = ""] = typeof text === "string" ? text.trim().split(/\r?\n/, 1) : [];
  if (first === "") return [];
  return [`    ${out.style("dim", cut(visible(first), width === undefined ? undefined : width - 4))}`];
}

interface Summary<T extends object> {
  answers: ServerAnswers<Listed<T>>["answers"];
  failures: readonly unknown[];
  servers: ServerSet;
  context: ListContext;
  listing: Listing<T>;
  startedAt: number;
}

/** `12 tools from 3 servers in 210 ms; 1 server failed, 2 are switched off` */
function footer<T extends object>({ answers, failures, servers, context, listing, startedAt }: Summary<T>): string {
  const sum = (count: (listed: Listed<T>) => number) => answers.reduce((total, { value }) => total + count(value), 0);
  const [shown, unmatched] = [sum((l) => l.shown.length), sum((l) => l.unmatched)];
  const [denied, held] = [sum((l) => l.denied), sum((l) => l.held.length)];
  const of = unmatched > 0 ? `${shown} of ${pluralize(shown + unmatched, listing.one)}` : pluralize(shown, listing.one);
  const [only] = answers;
  const from = answers.length === 1 && only ? visible(only.value.title) : pluralize(answers.length, "server");
  const isNamed = namedServer(context) !== undefined || servers.inPlace !== undefined;
  const off = isNamed ? 0 : servers.configuration.servers.filter(({ enabled }) => !enabled).length;
  const besides = [
    denied > 0 ? `${pluralize(denied, listing.one)} hidden by "tools" of the entry` : "",
    held > 0
      ? `${pluralize(held, listing.one)} held until accepted: nexus mcp changes list${servers.optionsAgain}`
      : "",
    failures.length > 0 ? `${failures.length} failed` : "",
    off > 0 ? `${pluralize(off, "server")} disabled` : "",
  ].filter((part) => part !== "");
  const time = durationText(performance.now() - startedAt);
  return [`${of} from ${from} in ${time}`, ...besides].join("; ");
}

interface Described {
  name: string;
  title?: string;
  description?: string;
}

/** The name and description of a resource or template, below its URI. */
export function describedLines(item: Described, out: Output, width: number | undefined): string[] {
  const { name, title = name, description } = item;
  const text = description === undefined || description === title ? title : `${title} – ${description}`;
  return summaryLines(text, out, width);
}
