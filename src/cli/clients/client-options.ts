import { INSTALL_CLIENTS, type ClientId } from "../../config/import/clients.ts";
import { maskUrl } from "../../masking/mask-words.ts";
import { nearestName } from "../../text/nearest-name.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { Options } from "../command/command.ts";
import type { ClientRoute } from "./entry-writer.ts";

/** Options of commands for another program's file. */
export const CLIENT_OPTIONS = {
  server: {
    type: "string",
    multiple: true,
    value: "ID",
    help: "only this configured server instead of all; repeatable",
  },
  project: { type: "boolean", help: "the program's file in this folder (often shared) instead of the user's file" },
  as: {
    type: "string",
    value: "NAME",
    help: "name of the entry; default: nexus, or the server's id",
  },
} as const satisfies Options;

/** Options for how another program reaches Nexus. */
export const WAY_OPTIONS = {
  stdio: { type: "boolean", help: "the program starts Nexus and connects over stdio" },
  url: { type: "string", value: "URL", help: "connect to a running gateway at the address that nexus serve prints" },
} as const satisfies Options;

/** The named program, if it can be read or written. */
export function clientCalled(name: string, known: readonly ClientId[] = INSTALL_CLIENTS): ClientId {
  const client = known.find((id) => id === name);
  if (client) return client;
  const family = known.filter((id) => id.startsWith(`${name}-`));
  const near = family.length > 0 ? family.join(" or ") : nearestName(name, known);
  const list = `Known programs: ${known.join(", ")}.`;
  throw wrongUsage(`Nexus does not know the program "${name}"`, near ? `Did you mean ${near}? ${list}` : list);
}

/** How the other program should reach Nexus; undefined if no option says it. */
export function wayGiven({
  stdio,
  url,
}: {
  stdio?: boolean | undefined;
  url?: string | undefined;
}): ClientRoute | undefined {
  if (stdio && url !== undefined) throw wrongUsage("--stdio and --url cannot be used together", "Use one of them.");
  if (url === undefined) return stdio ? { kind: "pipe" } : undefined;
  return { kind: "gateway", url: gatewayUrl(url) };
}

/** For files of other programs, which must not contain secrets. */
function gatewayUrl(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw wrongUsage(`--url ${maskUrl(given)} is not an http or https address`, "Use --url http://127.0.0.1:3210/mcp.");
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw wrongUsage(
      "--url must not contain a user, a query or a fragment",
      "Nexus does not write possible secrets to files of other programs. Use the address without them.",
    );
  }
  const path = url.pathname.replace(/\/$/, "");
  return url.origin + (path === "" ? "/mcp" : path);
}

/** Makes an entry in the requested way, which the program may not support. */
export function inThisWay<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof NexusError)) throw error;
    throw wrongUsage(error.message, "Use --stdio instead: the program then starts Nexus itself.");
  }
}
