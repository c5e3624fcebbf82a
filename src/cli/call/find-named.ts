import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { beginsWithServer, resolveName } from "../../host/directory/names.ts";
import type { ServerSet } from "../command/server-set.ts";

/** The tool or prompt that a name on the command line means; with a server in place it need not be named. */
export function findNamed<T extends { name: string }>(
  text: string,
  items: readonly T[],
  { servers, definition, kind }: { servers: ServerSet; definition: ServerDefinition; kind: "tool" | "prompt" },
): T {
  const bare = servers.inPlace ? items.find(({ name }) => name === text) : undefined;
  if (bare) return bare;
  const { id: server, prefix } = definition;
  const named = servers.withId(text);
  const isFull = beginsWithServer(named, definition);
  const candidates = items.map((item) => ({ server, prefix, name: item.name, item }));
  try {
    return resolveName(isFull ? named : `${server}.${text}`, candidates, kind).item;
  } catch (error) {
    if (!(error instanceof NexusError)) throw error;
    const where = `${servers.inPlace ? "" : ` ${server}`}${servers.optionsAgain}`;
    const lists = `"nexus mcp ${kind}s${where}"`;
    const near = error.hint?.startsWith("Did you mean") ? `${error.hint} ` : "";
    const known =
      items.length === 0
        ? `The server has no ${kind}s.`
        : `${lists} lists ${items.length === 1 ? "it" : `all ${items.length}`}.`;
    throw error.amended({ server, hint: `${near}${known}` });
  }
}
