import type { Client } from "../../client/client.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import type { AccessTarget } from "../../host/directory/access-target.ts";
import type { ListedItem } from "../../host/directory/server-directory.ts";
import type { Options } from "../command/command.ts";
import { requireAllowed } from "../command/entry-rules.ts";
import { requireAccepted } from "../command/pinned-lists.ts";
import type { ServerSet } from "../command/server-set.ts";
import { AttendedCall, type Attendance } from "./attended-call.ts";
import { getNamed } from "./get-named.ts";

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
