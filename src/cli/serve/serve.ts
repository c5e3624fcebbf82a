import { fileURLToPath } from "node:url";
import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "../../text/logger.ts";
import { serverId } from "../../config/read/server-id.ts";
import { visible } from "../../text/visible.ts";
import { openApi } from "../../compose/open-api.ts";
import { DEFAULT_PORT, serve as serveHttp, serveStdio, type Gateway } from "../../gateway/index.ts";
import { Host } from "../../host/host.ts";
import { unknownServer } from "../../host/directory/unknown-name.ts";
import { parseDuration } from "../../text/duration.ts";
import { defineCommand, type Flags } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { Output } from "../output/output.ts";
import { greeting } from "./greeting.ts";
import { ServerNews } from "./server-news.ts";
import { verboseLogger } from "../output/verbose-logger.ts";
import type { HostEntry } from "../../host/host-options.ts";
import { parseWebOrigin } from "../../net/web-origin.ts";

/** How long the first line waits for servers that are slow to start; they are served when they are there. */
const STARTING_MS = 10_000;

const OF_HTTP = ["max-stream", "allow-host", "allow-origin"] as const;
/** Clients wait a second before they come back. */
const SHORTEST_STREAM_MS = 1000;

/** nexus serve */
export const serve = defineCommand({
  usage: "nexus serve [--port N] [--host H] [--stdio] [--server ID]… [--demo]",
  description: `Clients of every revision use all configured servers at /mcp, one of them at /servers/<id>/mcp, and over HTTP+SSE at
/sse; /healthz, /readyz and /metrics tell how it does. Changed configuration files are followed while it runs.
Ctrl-C, or SIGTERM, lets running calls finish for up to 10 seconds; a second one ends at once. With --stdio the end of the
input does, and a signal ends at once.`,
  words: { min: 0, max: 0 },
  options: {
    port: { type: "string", value: "N", help: `where to listen; ${DEFAULT_PORT} unless given, 0 for any free port` },
    host: { type: "string", value: "H", help: "the address to listen on; 127.0.0.1 unless given" },
    stdio: { type: "boolean", help: "serve one client on stdin and stdout instead" },
    server: {
      type: "string",
      multiple: true,
      value: "ID",
      help: "serve this server alone; repeatable. With --stdio, one server has its names as they are",
    },
    "max-stream": {
      type: "string",
      value: "25s",
      help: "close streams of 2025-11-25 clients after this long, and let them come back for the rest: for proxies that end every response after a fixed time",
    },
    "allow-host": {
      type: "string",
      multiple: true,
      value: "NAME",
      help: "a further name it is reached by, as proxies pass it on in Host; repeatable",
    },
    "allow-origin": {
      type: "string",
      multiple: true,
      value: "URL",
      help: "web pages of this origin may use it, such as https://inspector.example; repeatable",
    },
    demo: { type: "boolean", help: "serve the bundled demo servers, and nothing that is configured" },
  },
  examples: [
    ["nexus serve", "all configured servers at http://127.0.0.1:3210/mcp"],
    ["nexus serve --demo --port 0", "something to try a client with, on any free port"],
    ["nexus serve --stdio", "for the configuration of a client that starts its servers itself"],
    ["nexus serve --stdio --server github", "the same with one server alone"],
  ],
  endsOnSignal: true,

  async run({ options, flags, signal, out, surroundings, stateFolder }) {
    const port = portOf(options.port);
    if (options.stdio && (options.port !== undefined || options.host !== undefined)) {
      throw wrongUsage("--stdio listens on no port", "Leave out --port and --host, or --stdio.");
    }
    const streamMs = durationOf(options["max-stream"]);
    const reach = {
      address: addressOf(options.host),
      allowedHosts: options["allow-host"],
      allowedOrigins: originsOf(options["allow-origin"]),
    };
    if (options.stdio && OF_HTTP.some((name) => options[name] !== undefined)) {
      throw wrongUsage("--stdio serves no HTTP", `Leave out ${OF_HTTP.map((name) => `--${name}`).join(", ")}.`);
    }
    const { config, trust, timeoutMs } = flags;
    const logger = loggerFor(flags, out);
    const servers = options.demo ? demoServers() : undefined;
    const limits = streamMs === undefined ? {} : { streamMs };
    const only = options.server?.map(serverId);
    if (servers && only) throw wrongUsage("--demo serves nothing that is configured", "Leave out --server, or --demo.");
    const watched = { openApi, config, only, trust, servers, watch: true, timeoutMs, stateFolder, logger };
    await using host = await Host.start(watched, surroundings);
    using _news = new ServerNews(host, out);
    tellWarnings(host, out);
    for (const id of only ?? []) requireServer(host, id);
    const [server] = only?.length === 1 ? only : [];
    if (options.stdio) return await servePipes(host, { logger, signal, server });
    await using gateway = await serveHttp({ host, port, ...reach, stateFolder, logger, limits });
    await Promise.race([gateway.ready(), pause(STARTING_MS, undefined, { ref: false }), aborted(signal)]);
    if (!signal.aborted) tellWhere(gateway, out, surroundings.platform);
    await aborted(signal);
    out.note("Ending: running calls may finish; once more ends at once.");
  },
});

/** A name that is not there is a mistake on the command line, and would serve nothing. */
function requireServer(host: Host, id: string): void {
  if (host.find(id)) return;
  throw unknownServer(id, host.configuration?.servers.map((server) => server.id) ?? []);
}

interface Pipes {
  logger: Logger;
  signal: AbortSignal;
  /** This one alone. */
  server: string | undefined;
}

async function servePipes(host: Host, { logger, signal, server }: Pipes): Promise<void> {
  const ended = new AbortController();
  // A client that is gone is the end of it, and no reason to leave its servers running.
  process.stdout.removeAllListeners("error").on("error", () => ended.abort());
  try {
    const { stdin: input, stdout: output } = process;
    await serveStdio({ host, server, input, output, logger, signal: AbortSignal.any([signal, ended.signal]) });
  } finally {
    process.stdin.destroy();
  }
}

function tellWhere({ url, port, host }: Gateway, out: Output, platform: NodeJS.Platform): void {
  if (out.json) {
    const servers = host.servers();
    return out.value({ url, port, servers: servers.map((server) => ({ id: server.id, state: server.state.kind })) });
  }
  out.line(`listening on ${url}`);
  for (const line of greeting(url, host, platform)) out.line(visible(line));
}

/** What looks wrong in the files. Those that cannot be used at all, the host names itself, now and while it watches. */
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
  throw wrongUsage(`--port ${given} is no port`, "Write a number from 0 to 65535; 0 takes any that is free.");
}

/** As in a URL, or bare. */
function addressOf(given: string | undefined): string | undefined {
  if (given === "") throw wrongUsage("--host needs an address", "Leave it out to listen on 127.0.0.1.");
  return given?.replace(/^\[(.*)\]$/, "$1");
}

/** As browsers write them: no path, no slash at the end. */
function originsOf(given: readonly string[] | undefined): string[] | undefined {
  return given?.map((text) => {
    const origin = parseWebOrigin(text);
    if (origin !== undefined) return origin;
    throw wrongUsage(`--allow-origin ${text} is no origin`, "Write it as https://name, with a port if it has one.");
  });
}

function durationOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const ms = parseDuration(given);
  if (ms !== undefined && ms >= SHORTEST_STREAM_MS) return ms;
  throw wrongUsage(`--max-stream ${given} is no such duration`, "Write at least one second: 25s, 2m.");
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

function loggerFor({ verbose }: Flags, out: Output): Logger {
  const loud = verboseLogger(out);
  return verbose ? loud : { ...loud, debug() {}, info() {} };
}

/**
 * The bundled demo server, once as the newest specification has it and once as it was before, and a hotel's API as the
 * workshop makes a server of it, with a fake of the hotel behind it.
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
