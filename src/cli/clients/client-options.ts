import { INSTALL_CLIENTS, type ClientId } from "../../config/import/clients.ts";
import { maskedUrl } from "../../text/masked-secrets.ts";
import { nearestName } from "../../text/nearest-name.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { Options } from "../command/command.ts";
import type { ClientRoute } from "./client-entries.ts";

/** Options of commands that are about another program's file. */
export const CLIENT_OPTIONS = {
  server: { type: "string", multiple: true, value: "ID", help: "this configured server, not all of Nexus; repeatable" },
  project: { type: "boolean", help: "the program's file in this folder, which others may share; not the user's" },
  as: {
    type: "string",
    value: "NAME",
    help: "what the entry is called there: nexus, or the server's id, unless given",
  },
} as const satisfies Options;

/** Options that say how another program reaches Nexus. */
export const WAY_OPTIONS = {
  stdio: { type: "boolean", help: "through Nexus on a pipe, which the program starts itself" },
  url: { type: "string", value: "URL", help: "through a gateway that runs, at the address nexus serve prints" },
} as const satisfies Options;

/** The program that was named, of those that can be read or written. */
export function clientCalled(name: string, known: readonly ClientId[] = INSTALL_CLIENTS): ClientId {
  const client = known.find((id) => id === name);
  if (client) return client;
  const near = nearestName(name, known);
  const list = `Known programs: ${known.join(", ")}.`;
  throw wrongUsage(`"${name}" is not a program that Nexus knows`, near ? `Did you mean ${near}? ${list}` : list);
}

/** How the other program is to reach Nexus; undefined where nothing says so. */
export function wayGiven({
  stdio,
  url,
}: {
  stdio?: boolean | undefined;
  url?: string | undefined;
}): ClientRoute | undefined {
  if (stdio && url !== undefined) throw wrongUsage("--stdio and --url are given both", "Give one of them.");
  if (url === undefined) return stdio ? { kind: "pipe" } : undefined;
  return { kind: "gateway", url: gatewayUrl(url) };
}

/** As it is written into files of other programs, where no secret may be. */
function gatewayUrl(given: string): string {
  const url = URL.canParse(given) ? new URL(given) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw wrongUsage(
      `--url ${maskedUrl(given)} is not an http or https address`,
      "Write --url http://127.0.0.1:3210/mcp.",
    );
  }
  if (url.username !== "" || url.password !== "" || url.search !== "" || url.hash !== "") {
    throw wrongUsage(
      "--url has more than an address in it: a user, a query or a fragment",
      "What may be a key is not written into files of other programs. Give the address alone.",
    );
  }
  const path = url.pathname.replace(/\/$/, "");
  return url.origin + (path === "" ? "/mcp" : path);
}

/** Makes an entry in a way that the user has asked for, and that the program may not have. */
export function inThisWay<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof NexusError)) throw error;
    throw wrongUsage(error.message, "Use --stdio: the program starts Nexus itself then.");
  }
}
