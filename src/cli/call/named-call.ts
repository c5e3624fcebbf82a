import type { Client } from "../../client/client.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import type { AccessTarget } from "../../host/directory/access-target.ts";
import type { ListedItem, Resolved } from "../../host/directory/server-directory.ts";
import type { Options } from "../command/command.ts";
import { requireAllowed } from "../command/entry-rules.ts";
import { requireAccepted } from "../command/pinned-lists.ts";
import type { ServerSet } from "../command/server-set.ts";
import { AttendedCall, type Attendance } from "./attended-call.ts";
import { NexusError } from "../../errors/nexus-error.ts";

/** The option of commands whose results may contain files. */
export const SAVE = {
  save: {
    type: "string",
    value: "FOLDER",
    help: "folder for images, audio and other files; default: the current folder",
  },
} as const satisfies Options;

const COMMANDS = {
  tool: { command: "mcp call", method: "tools/call", list: "tools" },
  prompt: { command: "mcp prompt", method: "prompts/get", list: "prompts" },
} as const;

/** Servers may list tools that use sampling only for clients that declare it. */
const NEEDS_A_MODEL = "Some servers offer tools that use a model only with --sample-with.";

interface NamedCallOptions<T> {
  kind: keyof typeof COMMANDS;
  context: Attendance["context"];
  servers: ServerSet;
  list: (client: Client) => Promise<T[]>;
  /** What the rules decide about, if more than the name of the item. */
  targetOf?: (item: T, of: { definition: ServerDefinition; client: Client; items: readonly T[] }) => AccessTarget;
}

interface NamedCall<T> {
  definition: ServerDefinition;
  attended: AttendedCall;
  item: T;
  /** The list in which it is. */
  items: readonly T[];
}

/** Connects the server of a tool or prompt, and finds the item. Throws if its use is not allowed. */
export async function openNamedCall<T extends ListedItem>(
  name: string,
  { kind, context, servers, list, targetOf }: NamedCallOptions<T>,
): Promise<NamedCall<T>> {
  const { command, method, list: listed } = COMMANDS[kind];
  const definition = await servers.getOwner(name, kind);
  const attended = await AttendedCall.open({ command, context, servers, definition });
  const items = await list(attended.client);
  servers.saw(definition, { [listed]: items.map((each) => each.name) });
  const unlisted = kind === "tool" && context.options["sample-with"] === undefined ? NEEDS_A_MODEL : undefined;
  const { item, target } = getNamed(name, items, { servers, definition, kind, unlisted });
  await requireAllowed(servers, targetOf?.(item, { definition, client: attended.client, items }) ?? target);
  await requireAccepted(servers, definition, { kind: listed, client: attended.client, items, name: item.name });
  attended.requireSame(method, { name: item.name });
  return { definition, attended, item, items };
}

interface NamedOf {
  servers: ServerSet;
  definition: ServerDefinition;
  kind: "tool" | "prompt";
  /** Why a name may be missing in the list; part of the hint where no similar name is listed. */
  unlisted?: string | undefined;
}

/** Finds the tool or prompt of a name on the command line. For a server in place, its name can be left out. */
function getNamed<T extends ListedItem>(text: string, items: readonly T[], of: NamedOf): Resolved<T> {
  const { servers, definition, kind } = of;
  const { directory, inPlace } = servers;
  const bare = inPlace && items.find(({ name }) => name === text);
  const isFull = !bare && directory.findOwners(text).includes(definition);
  const candidates = bare ? [bare] : items;
  const listed = ({ id }: ServerDefinition) => (id === definition.id ? candidates : []);
  try {
    return directory.resolve(isFull ? text : `${definition.id}.${text}`, { kind, listed });
  } catch (error) {
    throw error instanceof NexusError ? withListCommand(error, { text, items }, of) : error;
  }
}

/** Adds the command that lists the names. */
function withListCommand(
  error: NexusError,
  { text, items }: { text: string; items: readonly ListedItem[] },
  { servers, definition, kind, unlisted }: NamedOf,
): NexusError {
  const { id: server } = definition;
  const count = items.length;
  const near = error.hint?.startsWith("Did you mean") ? `${error.hint} ` : "";
  const all = count === 1 ? "it" : `all ${count}`;
  const known =
    count === 0 ? `The server has no ${kind}s.` : `"nexus mcp ${kind}s${servers.wordsFor(server)}" lists ${all}.`;
  // A server may have more tools than it lists.
  const caller = callerFor(text, items);
  const typed = servers.inPlace ? caller : `${server}.${caller}`;
  const asked = text.startsWith(`${server}.`) ? text.slice(server.length + 1) : text;
  const others = caller === undefined ? "" : ` ${howToCall(asked, { typed, options: servers.optionsAgain })}`;
  const why = near === "" && unlisted !== undefined && error.code === "NAME_UNKNOWN" ? ` ${unlisted}` : "";
  const more = error.amended({ server, hint: `${near}${known}${why}${others}` });
  return servers.inPlace ? withoutServer(more, server) : more;
}

/** The listed tool that calls those which are found by searching; a gateway lists one for each of its servers. */
function callerFor(text: string, items: readonly ListedItem[]): string | undefined {
  const names = new Set(items.map(({ name }) => name));
  const callers = [...names].filter(
    (name) => /(?:^|__)call_tool$/.test(name) && names.has(`${name.slice(0, -"call_tool".length)}search_tools`),
  );
  const ofServer = callers.find((name) => text.startsWith(name.slice(0, -"call_tool".length)));
  return ofServer ?? (callers.length === 1 ? callers[0] : undefined);
}

/** A tool that is not in the list is called through another one. */
function howToCall(name: string, { typed, options }: { typed: string | undefined; options: string }): string {
  const shown = /^[\w.-]{1,128}$/.test(name) ? name : "…";
  return `If it was found with search_tools, it is called with call_tool: nexus mcp call ${typed} --arg name=${shown} --arg 'arguments={…}'${options}`;
}

/** A server in place has a name that nobody wrote. */
function withoutServer({ code, message, details }: NexusError, server: string): NexusError {
  const bare = (text: string) => text.replaceAll(`"${server}.`, '"');
  return new NexusError(code, bare(message), { ...details, hint: bare(details.hint ?? "") });
}
