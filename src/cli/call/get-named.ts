import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { ListedItem, Resolved } from "../../host/directory/server-directory.ts";
import type { ServerSet } from "../command/server-set.ts";

interface NamedOf {
  servers: ServerSet;
  definition: ServerDefinition;
  kind: "tool" | "prompt";
  /** Why a name may be missing in the list; part of the hint where no similar name is listed. */
  unlisted?: string | undefined;
}

/** Finds the tool or prompt of a name on the command line. For a server in place, its name can be left out. */
export function getNamed<T extends ListedItem>(text: string, items: readonly T[], of: NamedOf): Resolved<T> {
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
  const more = error.amended({ server, hint: `${near}${known}${others}${why}` });
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
