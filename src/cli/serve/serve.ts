import { fileURLToPath } from "node:url";
import { setTimeout as pause } from "node:timers/promises";
import { networkInterfaces, type NetworkInterfaceInfo } from "node:os";
import { untilAborted } from "../../async/unless-aborted.ts";
import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import type { SecretStore } from "../../auth/secrets.ts";
import { removeTenantFolder } from "../../auth/tenant-folder.ts";
import { loadWorkshop, openApi } from "../../compose/open-api.ts";
import { openPublished, storedState } from "../../compose/stored-state.ts";
import { gatewayLimits, readCount, readBytes } from "../../config/gateway-settings.ts";
import { messageOf } from "../../errors/nexus-error.ts";
import { serve as serveHttp, serveStdio, DEFAULT_LIMITS, type Gateway } from "../../gateway/index.ts";
import { LazyLedger, type OpenedLedger } from "../../host/definitions/lazy-ledger.ts";
import { unknownServer } from "../../host/directory/unknown-name.ts";
import type { HostEntry, HostOptions } from "../../host/host-options.ts";
import { Host, type ServerStatus } from "../../host/host.ts";
import { Operations } from "../../rest/operations.ts";
import type { Store } from "../../store/store.ts";
import type { PublishedServers } from "../../team/published-servers.ts";
import type { TenantHosts } from "../../team/tenant-hosts.ts";
import { loggerFrom, type Logger } from "../../text/logger.ts";
import { visible } from "../../text/visible.ts";
import { defineCommand, type CommandContext, type Flags } from "../command/command.ts";
import type { LogForm, Output } from "../output/output.ts";
import { verboseLogger } from "../output/verbose-logger.ts";
import { TenantState } from "../store/tenant-state.ts";
import type { ServeDoor } from "./serve-door.ts";
import {
  logFormOf,
  parseTarget,
  SERVE_OPTIONS,
  type ServeTarget,
  type ServeValues,
  type PROCESS_OPTIONS,
} from "./serve-options.ts";
import { ServerNews } from "./server-news.ts";
import { asHost } from "../../text/loopback.ts";
import { ProcessBudget, type ProcessBudgetOptions } from "../../process/process-budget.ts";
import type { ProcessLimits } from "../../process/process-limits.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { ProcessEstimate } from "./process-estimate.ts";

/** How long the first line waits for slow servers; they are served when they are ready. */
const STARTING_MS = 10_000;

/** nexus serve */
export const serve = defineCommand({
  usage: "nexus serve [--port N] [--host H] [--stdio] [--server ID]… [--view search] [--demo]",
  description: `Serves all configured servers at /mcp, a single server at /servers/<id>/mcp, a set at /sets/<name>/mcp, and HTTP+SSE at /sse, for clients of every
revision. Below /search/mcp, /servers/<id>/search/mcp and /sets/<name>/search/mcp, clients get three tools that find, describe and call all others. /healthz, /readyz and /metrics report its state. Changes of configuration files take effect while it runs.
Ctrl-C or SIGTERM waits up to 10 seconds for running calls and refuses new ones; a second signal stops immediately. With
--stdio, the end of the input does the same, and a signal after it stops immediately.`,
  options: SERVE_OPTIONS,
  examples: [
    ["nexus serve", "serve all configured servers at http://127.0.0.1:3210/mcp"],
    ["nexus serve --demo --port 0", "serve the demo servers on any free port"],
    ["nexus serve --stdio", "for a client that starts its servers itself"],
    ["nexus serve --stdio --server github", "the same with only one server"],
    ["nexus serve --stdio --view search", "the same for a client that finds tools instead of getting a list of all"],
  ],
  endsOnSignal: true,

  async run(context) {
    const { options, flags, out, surroundings } = context;
    const target = parseTarget(options);
    const form = logFormOf(options.log);
    if (form) out.logAs(form);
    const logger = loggerFor(flags, out, form);
    const limited = limitProcesses(options, { logger, platform: surroundings.platform });
    await using entrance = options.stdio ? undefined : await openEntrance(context, target, logger);
    await using own = new TenantState(context);
    await using accepted = ledgerOfDefault(entrance, own, { isDemo: options.demo === true, logger });
    const state = { ...stateOfDefault(entrance, own), definitions: accepted.ledger };
    using published = await publishedOfDefault(context, () => storeOfDefault(entrance, own, logger), logger);
    const beside = published?.current;
    await using host = await startHost(context, { only: target.only, beside, logger, ...limited, ...state });
    published?.applyTo(host);
    using _news = ServerNews.follow(host, out);
    tellWarnings(host, out);
    requireServers(host, target.only);
    // The demo sees nothing of what the user keeps.
    const ownSecrets = entrance?.isChosen || options.demo ? undefined : own.secrets;
    const serving = { context, target, ownSecrets, logger };
    if (entrance) await serveNetwork(host, entrance, serving);
    else await servePipes(host, serving);
  },
});

type ServeContext = CommandContext<ServeValues>;

/** What needs a store is loaded for HTTP alone. */
async function openEntrance(context: ServeContext, { reach }: ServeTarget, logger: Logger): Promise<ServeDoor> {
  const { openDoor } = await import("./serve-door.ts");
  return openDoor(context, { address: reach.address, logger });
}

/** Starts the configured servers, or those of the demo. */
function startHost(context: ServeContext, options: HostOptions): Promise<Host> {
  const { flags, surroundings, stateFolder } = context;
  const { config, trust, timeoutMs } = flags;
  const servers = context.options.demo ? demoServers() : undefined;
  return Host.start({ openApi, config, trust, servers, watch: true, timeoutMs, stateFolder, ...options }, surroundings);
}

/** Where the servers of the configuration keep their secrets and recorded writes: in the user's files, or in a chosen database. */
function stateOfDefault(entrance: ServeDoor | undefined, own: TenantState): Partial<HostOptions> {
  // On pipes a database is opened when it is needed, as by any command.
  if (!entrance) return { secrets: own.secrets, openApi: own.openApi };
  if (!entrance.store) return {};
  return entrance.isChosen
    ? storedState(entrance.store, own.tenant, own.trust)
    : { openApi: openPublished(entrance.store, own.tenant) };
}

/** What the tenant `default` has published. The demo has servers of its own. */
async function publishedOfDefault(
  { options, surroundings, flags: { config } }: ServeContext,
  findStore: () => Promise<Store | undefined>,
  logger: Logger,
): Promise<PublishedServers | undefined> {
  const store = options.demo ? undefined : await findStore();
  if (!store) return undefined;
  const { followPublished } = await import("./serve-published.ts");
  return followPublished(store, { tenant: DEFAULT_TENANT, surroundings, config, logger });
}

/** On pipes, the configured servers are served also without it. */
async function storeOfDefault(
  entrance: ServeDoor | undefined,
  own: TenantState,
  logger: Logger,
): Promise<Store | undefined> {
  if (entrance) return entrance.store;
  return own.findPublishing().catch((error: unknown) => {
    logger.warn(`what is published is not served: ${messageOf(error)}`);
    return undefined;
  });
}

/** Where accepted definitions are kept. Without an open store, it is opened for servers that are pinned, or if there is one. */
function ledgerOfDefault(
  entrance: ServeDoor | undefined,
  own: TenantState,
  { isDemo, logger }: { isDemo: boolean; logger: Logger },
): OpenedLedger {
  if (entrance?.store) {
    return { ledger: entrance.store.ledger(own.tenant, { logger }), async [Symbol.asyncDispose]() {} };
  }
  const { problem } = entrance ?? {};
  const keepsUnpinned = !isDemo && problem === undefined && own.keepsDefinitions;
  const ledger = new LazyLedger(() => (problem ? Promise.reject(problem) : own.openLedger()), { keepsUnpinned });
  return { ledger, [Symbol.asyncDispose]: () => ledger[Symbol.asyncDispose]() };
}

/** An unknown name is a mistake on the command line, and would serve nothing. */
function requireServers(host: Host, only: readonly string[] | undefined): void {
  for (const id of only ?? []) {
    if (!host.find(id)) throw unknownServer(id, host.configuration?.servers.map((server) => server.id) ?? []);
  }
}

interface Serving {
  context: ServeContext;
  target: ServeTarget;
  /** Those of the tenant `default`, where they are not in the store of the gateway. */
  ownSecrets: SecretStore | undefined;
  logger: Logger;
}

/** Serves HTTP until the signal. */
async function serveNetwork(host: Host, entrance: ServeDoor, serving: Serving): Promise<void> {
  const { context, target, ownSecrets, logger } = serving;
  const { options, signal, out, surroundings, stateFolder } = context;
  const { door, store, sets, allowance, audit } = entrance;
  await using operations = store && new Operations({ store, door, audit, allowance, ownSecrets, stateFolder, logger });
  operations?.follow(host);
  const onHost = (opened: Host) => operations?.follow(opened);
  using tenants = await openTenants(host, { ...entrance, onHost }, serving);
  const sealKey = store?.masterKey.derive("seal");
  const kept = { door, sets, allowance, audit, sealKey, openTenant: tenants?.open, operations };
  const { port, reach } = target;
  const limits = limitsOf(host, target);
  await using gateway = await serveHttp({ host, port, ...reach, ...kept, stateFolder, logger, limits });
  operations?.attach(gateway);
  tenants?.onRemoved((tenant) => {
    gateway
      .closeTenant(tenant)
      .then(() => removeTenantFolder(stateFolder, tenant, logger))
      .catch((error: unknown) => logger.warn(`the tenant ${tenant} was not closed: ${messageOf(error)}`));
  });
  await Promise.race([gateway.ready(), pause(STARTING_MS, undefined, { ref: false }), untilAborted(signal)]);
  if (!signal.aborted)
    await tellAddress(gateway, out, { platform: surroundings.platform, entrance, options, operations });
  // On a shared database, an API may be published any time.
  if (entrance.isChosen)
    loadWorkshop().catch((error: unknown) => logger.warn(`APIs cannot be served: ${messageOf(error)}`));
  await untilAborted(signal);
  const isBusy = gateway.runningCalls > 0;
  out.note(isBusy ? "Stopping: waiting for running calls. Press Ctrl-C again to stop immediately." : "Stopping.");
}

/** Those of the command line, and below them those of the configuration at the start. */
function limitsOf({ configuration }: Host, { limits }: ServeTarget): ServeTarget["limits"] {
  const { firstListMs } = configuration?.gateway ? gatewayLimits(configuration.gateway) : {};
  return { ...(firstListMs === undefined ? {} : { firstListMs }), ...limits };
}

/** The other tenants, whose hosts share the budget of processes. */
async function openTenants(
  host: Host,
  { followTenants, onHost }: Pick<ServeDoor, "followTenants"> & { onHost: (host: Host) => void },
  { context, logger }: Serving,
): Promise<TenantHosts | undefined> {
  const { flags, out, surroundings, stateFolder } = context;
  const shared = { processes: host.processes, timeoutMs: flags.timeoutMs };
  return followTenants?.({ surroundings, stateFolder, config: flags.config, shared, onHost, logger, out });
}

/** Serves one client until it is gone. A single chosen server keeps its names. */
async function servePipes(host: Host, { context, target, logger }: Serving): Promise<void> {
  const { only, view } = target;
  const [server] = only?.length === 1 ? only : [];
  const ended = new AbortController();
  // When the client is gone, the command ends and stops its servers.
  process.stdout.removeAllListeners("error").on("error", () => ended.abort());
  try {
    const { stdin: input, stdout: output } = process;
    const signals = { signal: ended.signal, drain: context.signal };
    await serveStdio({ host, server, view, input, output, logger, ...signals, limits: limitsOf(host, target) });
  } finally {
    process.stdin.destroy();
  }
}

/** Warnings about the files. The host itself reports files that cannot be used, also later. */
function tellWarnings(host: Host, out: Output): void {
  for (const { message, source } of host.configuration?.warnings ?? []) {
    const text = `${message} (${source.file}:${source.line})`;
    if (out.logsJson) out.log("warn", text);
    else out.warn(visible(text));
  }
}

/** People read what went wrong; a log that is collected also says which calls failed. */
function loggerFor({ verbose }: Flags, out: Output, form: LogForm | undefined): Logger {
  const loud = verboseLogger(out);
  if (verbose) return loud;
  return loggerFrom(loud, form === "json" ? "info" : "warn");
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

interface Listening {
  platform: NodeJS.Platform;
  entrance: ServeDoor;
  options: StoreChoice;
  operations: Operations | undefined;
}

interface StoreChoice {
  readonly demo?: boolean | undefined;
  readonly database?: string | undefined;
}

/** Prints where the gateway listens, and what to do with it. */
async function tellAddress(
  { url, port, host }: Gateway,
  out: Output,
  { platform, entrance, options, operations }: Listening,
): Promise<void> {
  const estimate = estimateProcesses(host.servers(), host.processes?.limits.processes);
  const auth = entrance.door?.isNeeded === true ? "keys" : "none";
  const { local, others } = reachableUrls(url, networkInterfaces);
  const consoleUrl = operations?.consoleLink(local);
  if (out.json) {
    const servers = host.servers();
    const states = servers.map((server) => ({ id: server.id, state: server.state.kind }));
    return out.value({ url: local, others, port, auth, consoleUrl, servers: states, processes: estimate });
  }
  out.line(`listening on ${local}`);
  if (others) out.line(others.length > 0 ? `for other machines: ${others.join(", ")}` : NO_NETWORK);
  if (consoleUrl !== undefined) out.line(`console: ${consoleUrl}`);
  // Only people read the rest, which may come a little later.
  const { greeting } = await import("./greeting.ts");
  for (const line of greeting(local, { host, estimate, platform, needsKey: auth === "keys" }))
    out.advice(visible(line));
  out.line();
  // The store of the demo is its own, so no command creates a key in it.
  const canNeedKeys = entrance.door !== undefined && (!options.demo || options.database !== undefined);
  const command = visible(`nexus keys create NAME --allow PATTERN${entrance.optionsAgain}`);
  if (auth === "keys") out.advice(`Callers need an API key. To create one: ${command}`);
  else out.advice(`${OPEN_TO_ALL}${canNeedKeys ? ` From the first key on, callers need one: ${command}` : ""}`);
  const { problem } = entrance;
  if (problem) out.note(visible(`Nothing is stored: ${problem.message}. ${problem.hint ?? ""}`));
}

const OPEN_TO_ALL = "There is no authentication: everybody on this machine can call it.";

const NO_NETWORK = "Other machines cannot reach it: this machine has no address in a network.";

/** Where a gateway is reached. */
interface ReachableUrls {
  /** From this machine. */
  local: string;
  /** From other machines, where it listens on all addresses of this one; undefined where it listens on one address. */
  others: readonly string[] | undefined;
}

type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

/** The addresses to use for a gateway that listens at `url`: clients cannot connect to 0.0.0.0 or to ::. */
export function reachableUrls(url: string, interfaces: () => Interfaces): ReachableUrls {
  const everywhere = /^http:\/\/(0\.0\.0\.0|\[::\])(?=:)/.exec(url);
  if (!everywhere) return { local: url, others: undefined };
  const at = (address: string) => url.replace(everywhere[0], `http://${asHost(address)}`);
  const usable = Object.values(interfaces())
    .flatMap((infos) => infos ?? [])
    // Link-local addresses are used with the name of an interface of the client.
    .filter(({ internal, address }) => !internal && !/^(?:fe[89ab]|169\.254\.)/i.test(address))
    .filter(({ family }) => family === "IPv4" || everywhere[1] === "[::]");
  const inOrder = usable.toSorted((a, b) => a.family.localeCompare(b.family));
  return { local: at("127.0.0.1"), others: [...new Set(inOrder.map(({ address }) => at(address)))] };
}

type GivenLimits = { readonly [option in keyof typeof PROCESS_OPTIONS]?: string | undefined };

/** A budget with the limits of the command line, and below them those of the configuration as it is read. */
function limitProcesses(
  given: GivenLimits,
  options: ProcessBudgetOptions,
): Pick<HostOptions, "processes" | "onConfiguration"> {
  const { processes: most } = DEFAULT_LIMITS;
  const own = limitsIn(given);
  const processes = new ProcessBudget({ processes: most, ...own }, options);
  return {
    processes,
    onConfiguration: ({ gateway }) => {
      const { firstListMs: _, ...limits } = gateway ? gatewayLimits(gateway) : {};
      processes.setLimits({ processes: most, ...limits, ...own });
    },
  };
}

function limitsIn({ "max-processes": count, "max-memory": size }: GivenLimits): ProcessLimits {
  const processes = count === undefined ? undefined : readCount(Number(count));
  const memoryBytes = size === undefined ? undefined : readBytes(size);
  if (count !== undefined && processes === undefined)
    throw wrongUsage(`--max-processes "${count}" is not a number of processes`, "Use a number from 1.");
  if (size !== undefined && memoryBytes === undefined)
    throw wrongUsage(`--max-memory "${size}" is not a size`, "Use a size like 512MB or 4GB.");
  return { ...(processes && { processes }), ...(memoryBytes && { memoryBytes }) };
}

function estimateProcesses(servers: readonly ServerStatus[], limit: number | undefined): ProcessEstimate {
  const programs = servers.filter(
    ({ state, definition: { entry } }) =>
      entry?.reach.kind === "stdio" && state.kind !== "disabled" && state.kind !== "waiting-for-trust",
  );
  const count = (wanted: string) => programs.filter(({ definition }) => definition.isolation === wanted).length;
  const [shared, perCall] = [count("shared"), count("call")];
  return {
    servers: programs.length,
    shared,
    perClient: programs.length - shared,
    perCall,
    ...(limit === undefined || limit === Infinity ? {} : { limit }),
  };
}
