import { readWait } from "../../config/gateway-settings.ts";
import { serverId } from "../../text/server-id.ts";
import { DEFAULT_PORT, DEFAULT_LIMITS } from "../../gateway/index.ts";
import { parseWebOrigin } from "../../net/web-origin.ts";
import { parseDuration } from "../../text/duration.ts";
import { readView, wrongUsage } from "../command/command-line.ts";

import { DATABASE_OPTION, type OptionValues } from "../command/command.ts";
import type { LogForm } from "../output/output.ts";

/** Options of `nexus serve` that limit child processes. */
export const PROCESS_OPTIONS = {
  "max-processes": {
    type: "string",
    value: "N",
    help: `maximum number of child processes of all servers; default: ${DEFAULT_LIMITS.processes}, or gateway.limits.processes`,
  },
  "max-memory": {
    type: "string",
    value: "4GB",
    help: "maximum memory of all child processes; default: no limit, or gateway.limits.memory",
  },
} as const;

export const SERVE_OPTIONS = {
  port: { type: "string", value: "N", help: `port to listen on; default: ${DEFAULT_PORT}, 0 for any free port` },
  host: { type: "string", value: "H", help: "address to listen on; default: 127.0.0.1" },
  stdio: { type: "boolean", help: "serve one client on stdin and stdout instead" },
  server: {
    type: "string",
    multiple: true,
    value: "ID",
    help: "serve only this server; repeatable. With --stdio, a single server keeps its original names",
  },
  view: {
    type: "string",
    value: "search",
    help: "with --stdio: list three tools, with which the client finds, describes and calls all others. Over HTTP it is at /search/mcp",
  },
  "max-stream": {
    type: "string",
    value: "25s",
    help: "close streams of 2025-11-25 clients after this time and let them reconnect; for proxies that limit the duration of responses",
  },
  "first-list-wait": {
    type: "string",
    value: "10s",
    help: "how long the list of all servers waits for a server that was never seen before, for clients that cannot be told later that the list has changed; default: 10s, or gateway.limits.firstListWait",
  },
  "allow-host": {
    type: "string",
    multiple: true,
    value: "NAME",
    help: "an additional host name that clients or proxies send in the Host header; repeatable",
  },
  "allow-origin": {
    type: "string",
    multiple: true,
    value: "URL",
    help: "allow web pages of this origin, for example https://inspector.example; repeatable",
  },
  ...PROCESS_OPTIONS,
  auth: {
    type: "string",
    value: "none|keys",
    help: "who may call; default: everybody on this machine until the first API key exists, then only callers with a key. Another address than loopback needs keys",
  },
  ...DATABASE_OPTION,
  log: {
    type: "string",
    value: "json|text",
    help: "the form of the log on stderr; json: one object per line with time, level and message, from level info on. Default: text",
  },
  demo: { type: "boolean", help: "serve only the bundled demo servers" },
} as const;

export type ServeValues = OptionValues<typeof SERVE_OPTIONS>;

const OF_HTTP = ["max-stream", "allow-host", "allow-origin", "auth", "database"] as const;
/** Clients wait a second before they reconnect. */
const SHORTEST_STREAM_MS = 1000;

/** What is served, and where. */
export interface ServeTarget {
  port: number;
  /** The address to listen on, and the names and origins that requests may have. */
  reach: {
    address: string | undefined;
    allowedHosts: readonly string[] | undefined;
    allowedOrigins: readonly string[] | undefined;
  };
  limits: { streamMs?: number; firstListMs?: number };
  /** The only servers to serve; undefined: all. */
  only: readonly string[] | undefined;
  view: ReturnType<typeof readView>;
}

/** Throws for options that are wrong or contradict each other. */
export function parseTarget(options: ServeValues): ServeTarget {
  const port = portOf(options.port);
  if (options.stdio && (options.port !== undefined || options.host !== undefined)) {
    throw wrongUsage("--stdio does not listen on a port", "Remove --port and --host, or remove --stdio.");
  }
  const streamMs = streamOf(options["max-stream"]);
  const firstListMs = waitOf(options["first-list-wait"]);
  const reach = {
    address: addressOf(options.host),
    allowedHosts: options["allow-host"],
    allowedOrigins: originsOf(options["allow-origin"]),
  };
  if (options.stdio && OF_HTTP.some((name) => options[name] !== undefined)) {
    throw wrongUsage("--stdio does not serve HTTP", `Remove ${OF_HTTP.map((name) => `--${name}`).join(", ")}.`);
  }
  const view = readView(options.view);
  if (view && !options.stdio) {
    throw wrongUsage("--view needs --stdio", "Remove it: over HTTP the search view is at /search/mcp.");
  }
  const only = options.server?.map(serverId);
  if (options.demo && only)
    throw wrongUsage("--demo does not serve configured servers", "Remove --server, or remove --demo.");
  const limits = {
    ...(streamMs === undefined ? {} : { streamMs }),
    ...(firstListMs === undefined ? {} : { firstListMs }),
  };
  return { port, reach, limits, only, view };
}

/** The form of the log; undefined: the one that goes with `--json`. */
export function logFormOf(given: string | undefined): LogForm | undefined {
  if (given === undefined || given === "json" || given === "text") return given;
  throw wrongUsage(`--log "${given}" is not a form of the log`, "Use json or text.");
}

function portOf(given: string | undefined): number {
  if (given === undefined) return DEFAULT_PORT;
  const port = Number(given);
  if (/^\d+$/.test(given) && port <= 65_535) return port;
  throw wrongUsage(`--port "${given}" is not a port number`, "Use a number from 0 to 65535; 0 selects any free port.");
}

/** As in a URL, or without brackets. */
function addressOf(given: string | undefined): string | undefined {
  if (given === "") throw wrongUsage("--host needs an address", "Remove it to listen on 127.0.0.1.");
  return given?.replace(/^\[(.*)\]$/, "$1");
}

/** In the form of browsers: no path and no slash at the end. */
function originsOf(given: readonly string[] | undefined): string[] | undefined {
  return given?.map((text) => {
    const origin = parseWebOrigin(text);
    if (origin !== undefined) return origin;
    throw wrongUsage(`--allow-origin "${text}" is not an origin`, "Use https://host with an optional port.");
  });
}

function waitOf(given: string | undefined): number | undefined {
  const ms = readWait(given);
  if (given === undefined || ms !== undefined) return ms;
  throw wrongUsage(
    `--first-list-wait "${given}" is not a valid duration`,
    "Use a duration up to 10 minutes: 10s, 500ms. 0s waits no longer than for other clients.",
  );
}

function streamOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const ms = parseDuration(given);
  if (ms !== undefined && ms >= SHORTEST_STREAM_MS) return ms;
  throw wrongUsage(`--max-stream "${given}" is not a valid duration`, "Use at least one second: 25s, 2m.");
}
