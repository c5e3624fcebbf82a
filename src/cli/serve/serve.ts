import { fileURLToPath } from "node:url";
import { setTimeout as pause } from "node:timers/promises";
import { untilAborted } from "../../async/unless-aborted.ts";
import type { Logger } from "../../text/logger.ts";
import { serverId } from "../../config/read/server-id.ts";
import { visible } from "../../text/visible.ts";
import { openApi } from "../../compose/open-api.ts";
import { DEFAULT_PORT, serve as serveHttp, serveStdio, type Gateway } from "../../gateway/index.ts";
import { Host } from "../../host/host.ts";
import { LazyLedger, type OpenedLedger } from "../../host/definitions/lazy-ledger.ts";
import { unknownServer } from "../../host/directory/unknown-name.ts";
import { parseDuration } from "../../text/duration.ts";
import { DATABASE_OPTION, defineCommand, type Flags } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { Output } from "../output/output.ts";
import { greeting } from "./greeting.ts";
import { estimateProcesses } from "./process-estimate.ts";
import { limitProcesses, PROCESS_OPTIONS } from "./process-options.ts";
import { openDoor, type ServeDoor } from "./serve-door.ts";
import { ServerNews } from "./server-news.ts";
import { verboseLogger } from "../output/verbose-logger.ts";
import type { HostEntry, HostOptions } from "../../host/host-options.ts";
import { removeTenantFolder, storedState } from "../../compose/stored-state.ts";
import { TenantState } from "../store/tenant-state.ts";
import { followTenants } from "./serve-tenants.ts";
import { parseWebOrigin } from "../../net/web-origin.ts";

/** How long the first line waits for slow servers; they are served when they are ready. */
const STARTING_MS = 10_000;

const OF_HTTP = ["max-stream", "allow-host", "allow-origin", "auth", "database"] as const;
/** Clients wait a second before they reconnect. */
const SHORTEST_STREAM_MS = 1000;

/** nexus serve */
export const serve = defineCommand({
  usage: "nexus serve [--port N] [--host H] [--stdio] [--server ID]… [--demo]",
  description: `Serves all configured servers at /mcp, a single server at /servers/<id>/mcp, a set at /sets/<name>/mcp, and HTTP+SSE at /sse, for clients of every
revision. /healthz, /readyz and /metrics report its state. Changes of configuration files take effect while it runs.
Ctrl-C or SIGTERM waits up to 10 seconds for running calls; a second signal stops immediately. With --stdio, the end of the
input does the same, and a signal stops immediately.`,
  words: { min: 0, max: 0 },
  options: {
    port: { type: "string", value: "N", help: `port to listen on; default: ${DEFAULT_PORT}, 0 for any free port` },
    host: { type: "string", value: "H", help: "address to listen on; default: 127.0.0.1" },
    stdio: { type: "boolean", help: "serve one client on stdin and stdout instead" },
    server: {
      type: "string",
      multiple: true,
      value: "ID",
      help: "serve only this server; repeatable. With --stdio, a single server keeps its original names",
    },
    "max-stream": {
      type: "string",
      value: "25s",
      help: "close streams of 2025-11-25 clients after this time and let them reconnect; for proxies that limit the duration of responses",
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
    demo: { type: "boolean", help: "serve only the bundled demo servers" },
  },
  examples: [
    ["nexus serve", "serve all configured servers at http://127.0.0.1:3210/mcp"],
    ["nexus serve --demo --port 0", "serve the demo servers on any free port"],
    ["nexus serve --stdio", "for a client that starts its servers itself"],
    ["nexus serve --stdio --server github", "the same with only one server"],
  ],
  endsOnSignal: true,

  async run(context) {
    const { options, flags, signal, out, surroundings, stateFolder } = context;
    const port = portOf(options.port);
    if (options.stdio && (options.port !== undefined || options.host !== undefined)) {
      throw wrongUsage("--stdio does not listen on a port", "Remove --port and --host, or remove --stdio.");
    }
    const streamMs = durationOf(options["max-stream"]);
    const reach = {
      address: addressOf(options.host),
      allowedHosts: options["allow-host"],
      allowedOrigins: originsOf(options["allow-origin"]),
    };
    if (options.stdio && OF_HTTP.some((name) => options[name] !== undefined)) {
      throw wrongUsage("--stdio does not serve HTTP", `Remove ${OF_HTTP.map((name) => `--${name}`).join(", ")}.`);
    }
    const { config, trust, timeoutMs } = flags;
    const logger = loggerFor(flags, out);
    const servers = options.demo ? demoServers() : undefined;
    const limits = streamMs === undefined ? {} : { streamMs };
    const only = options.server?.map(serverId);
    if (servers && only)
      throw wrongUsage("--demo does not serve configured servers", "Remove --server, or remove --demo.");
    const limited = limitProcesses(options, { logger, platform: surroundings.platform });
    const watched = { openApi, config, only, trust, servers, watch: true, timeoutMs, stateFolder, logger, ...limited };
    await using entrance = options.stdio ? undefined : await openDoor(context, { address: reach.address, logger });
    await using own = new TenantState(context);
    const state = stateOfDefault(entrance, own);
    await using accepted = ledgerOfDefault(entrance, own, logger);
    await using host = await Host.start({ ...watched, ...state, definitions: accepted.ledger }, surroundings);
    using _news = ServerNews.follow(host, out);
    tellWarnings(host, out);
    for (const id of only ?? []) requireServer(host, id);
    const [server] = only?.length === 1 ? only : [];
    if (!entrance) return await servePipes(host, { logger, signal, server });
    const { door, store, sets } = entrance;
    const sealKey = store?.masterKey.derive("seal");
    const shared = { processes: limited.processes, timeoutMs };
    const around = { surroundings, stateFolder, config, shared, logger, out };
    using tenants = store && door && (await followTenants({ store, ...around }));
    const kept = { door, sets, sealKey, openTenant: tenants?.open };
    await using gateway = await serveHttp({ host, port, ...reach, ...kept, stateFolder, logger, limits });
    tenants?.onRemoved((tenant) => {
      void gateway.closeTenant(tenant).then(() => removeTenantFolder(stateFolder, tenant, logger));
    });
    await Promise.race([gateway.ready(), pause(STARTING_MS, undefined, { ref: false }), untilAborted(signal)]);
    if (!signal.aborted) tellWhere(gateway, out, { platform: surroundings.platform, entrance, options });
    await untilAborted(signal);
    const isBusy = gateway.runningCalls > 0;
    out.note(isBusy ? "Stopping: waiting for running calls. Press Ctrl-C again to stop immediately." : "Stopping.");
  },
});

/** Where the servers of the configuration keep their secrets and recorded writes: in the user's files, or in a chosen database. */
function stateOfDefault(entrance: ServeDoor | undefined, own: TenantState): Partial<HostOptions> {
  // On pipes a database is opened when it is needed, as by any command.
  if (!entrance) return { secrets: own.secrets, openApi: own.openApi };
  return entrance.store && entrance.isChosen ? storedState(entrance.store, own.tenant, own.trust) : {};
}

/** Where accepted definitions are kept. Without an open store, it is opened for servers that are pinned. */
function ledgerOfDefault(entrance: ServeDoor | undefined, own: TenantState, logger: Logger): OpenedLedger {
  if (entrance?.store) {
    return { ledger: entrance.store.ledger(own.tenant, { logger }), async [Symbol.asyncDispose]() {} };
  }
  const { problem } = entrance ?? {};
  const ledger = new LazyLedger(() => (problem ? Promise.reject(problem) : own.openLedger()));
  return { ledger, [Symbol.asyncDispose]: () => ledger[Symbol.asyncDispose]() };
}

/** An unknown name is a mistake on the command line, and would serve nothing. */
function requireServer(host: Host, id: string): void {
  if (host.find(id)) return;
  throw unknownServer(id, host.configuration?.servers.map((server) => server.id) ?? []);
}

interface Pipes {
  logger: Logger;
  signal: AbortSignal;
  /** Serve only this server. */
  server: string | undefined;
}

async function servePipes(host: Host, { logger, signal, server }: Pipes): Promise<void> {
  const ended = new AbortController();
  // When the client is gone, the command ends and stops its servers.
  process.stdout.removeAllListeners("error").on("error", () => ended.abort());
  try {
    const { stdin: input, stdout: output } = process;
    await serveStdio({ host, server, input, output, logger, signal: AbortSignal.any([signal, ended.signal]) });
  } finally {
    process.stdin.destroy();
  }
}

interface StoreChoice {
  readonly demo?: boolean | undefined;
  readonly database?: string | undefined;
}

function tellWhere(
  { url, port, host }: Gateway,
  out: Output,
  { platform, entrance, options }: { platform: NodeJS.Platform; entrance: ServeDoor; options: StoreChoice },
): void {
  const estimate = estimateProcesses(host.servers(), host.processes?.limits.processes);
  const auth = entrance.door?.isNeeded === true ? "keys" : "none";
  if (out.json) {
    const servers = host.servers();
    const states = servers.map((server) => ({ id: server.id, state: server.state.kind }));
    return out.value({ url, port, auth, servers: states, processes: estimate });
  }
  out.line(`listening on ${url}`);
  for (const line of greeting(url, { host, estimate, platform, needsKey: auth === "keys" })) out.line(visible(line));
  out.line();
  // The store of the demo is its own, so no command creates a key in it.
  const canNeedKeys = entrance.door !== undefined && (!options.demo || options.database !== undefined);
  const command = visible(`nexus keys create NAME --allow PATTERN${entrance.optionsAgain}`);
  if (auth === "keys") out.line(`Callers need an API key. To create one: ${command}`);
  else out.line(`${OPEN_TO_ALL}${canNeedKeys ? ` From the first key on, callers need one: ${command}` : ""}`);
  const { problem } = entrance;
  if (problem) out.note(visible(`Nothing is stored: ${problem.message}. ${problem.hint ?? ""}`));
}

const OPEN_TO_ALL = "There is no authentication: everybody on this machine can call it.";

/** Warnings about the files. The host itself reports files that cannot be used, also later. */
function tellWarnings(host: Host, out: Output): void {
  for (const { message, source } of host.configuration?.warnings ?? []) {
    const text = `${message} (${source.file}:${source.line})`;
    if (out.json) out.log("warn", text);
    else out.note(`${out.onStderr("yellow", "warning:")} ${visible(text)}`);
  }
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

function durationOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const ms = parseDuration(given);
  if (ms !== undefined && ms >= SHORTEST_STREAM_MS) return ms;
  throw wrongUsage(`--max-stream "${given}" is not a valid duration`, "Use at least one second: 25s, 2m.");
}

function loggerFor({ verbose }: Flags, out: Output): Logger {
  const loud = verboseLogger(out);
  return verbose ? loud : { ...loud, debug() {}, info() {} };
}

/**
 * The bundled demo server in the newest revision and in an older one, and a hotel API from a tool file with a fake
 * behind it.
 */
function demoServers(): Record<string, HostEntry> {
  const script = fileURLToPath(new URL("../demo/main.js", import.meta.url));
  const command = process.execPath;
  const api = fileURLToPath(new URL("../../api/capcorn/capcorn.nexus.yaml", import.meta.url));
  return {
    demo: { command, args: [script] },
    "demo-legacy": { command, args: [script, "--legacy"] },
    capcorn: { api, upstream: "fake" },
  };
}
