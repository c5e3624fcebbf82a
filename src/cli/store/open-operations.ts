import { userInfo } from "node:os";
import { addAbortSignal } from "node:stream";
import { text } from "node:stream/consumers";
import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import { DEFAULT_AUDIT, loadAuditSettings, type AuditSettings } from "../../config/gateway-settings.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { toolTarget } from "../../host/directory/access-target.ts";
import { secretStore } from "../../host/servers/load-options.ts";
import { parseWebOrigin } from "../../net/web-origin.ts";
import type { GatewayClientOptions, LocalClient, OperationClient } from "../../operations/client.ts";
import type { ExplainedServers, Services } from "../../operations/services.ts";
import type { Store } from "../../store/store.ts";
import { maskUrl } from "../../masking/mask-words.ts";
import { quoteWord } from "../../text/shell-words.ts";
import { isElsewhere, wrongUsage } from "../command/command-line.ts";
import { asksAnyone, DATABASE_OPTION, GATEWAY_OPTIONS, type CommandContext, type Options } from "../command/command.ts";
import { configAgain } from "../command/in-place.ts";
import { verboseLogger } from "../output/verbose-logger.ts";
import { chosenStore, type ChosenStore } from "./chosen-database.ts";
import { tenantAgain } from "./tenant-state.ts";

/** The options of commands that work on a database or through a gateway. */
export const OPERATED_OPTIONS = { ...GATEWAY_OPTIONS, ...DATABASE_OPTION } as const satisfies Options;

/** Which tenant is meant. `what` is its own: `of the set`. */
export function tenantOption(what: string) {
  const help = `the tenant${what}; default: ${DEFAULT_TENANT}, or with --gateway that of the key`;
  return { type: "string", value: "NAME", help } as const;
}

/** In commands about the audit, --key selects records. */
export const AUDITED_OPTIONS = { gateway: GATEWAY_OPTIONS.gateway, ...DATABASE_OPTION } as const satisfies Options;

export type OperatedContext = CommandContext<{
  readonly gateway?: string | undefined;
  readonly key?: string | undefined;
  readonly database?: string | undefined;
  readonly tenant?: string | undefined;
}>;

/** Operations for one command. */
export interface CommandOperations extends AsyncDisposable {
  client: OperationClient;
  /** Undefined where a gateway elsewhere does the work. */
  store: Store | undefined;
  /** The options that select the same tenant here or at the gateway, for commands to copy. */
  again: string;
}

/** Opens what a command line is about, here or behind a gateway. `creates`: a store that is missing here is created. */
export async function openOperations(context: OperatedContext, { creates = false } = {}): Promise<CommandOperations> {
  if (isElsewhere(context)) {
    const { gateway, key, database, tenant } = context.options;
    return openGateway(context, { gateway, key, database, tenant });
  }
  const [chosen, { Store: Opened }] = await Promise.all([chosenStore(context), import("../../store/store.ts")]);
  // A chosen database without a store is most likely a mistyped address.
  const store = await Opened.open({ ...chosen, create: creates || chosen.isDefault });
  try {
    const client = await localClient(store, chosen, context);
    const { tenant, database } = context.options;
    const again = `${tenantAgain(tenant, database)}${configAgain(context.flags)}`;
    return { client, store, again, [Symbol.asyncDispose]: () => store.close() };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Operations on what belongs to one tenant, for one command. */
export interface TenantOperations extends CommandOperations {
  /** That of the command line; without one, that of the key, or the default one. */
  tenant: string;
}

export type TenantContext = OperatedContext & { options: { readonly tenant?: string | undefined } };

export async function openTenant(
  context: TenantContext,
  options: { creates?: boolean } = {},
): Promise<TenantOperations> {
  const opened = await openOperations(context, options);
  return { ...opened, tenant: context.options.tenant ?? (await opened.client.ownTenant()) };
}

/** The secrets of somebody who has no database: in own files, so that changes are in no audit. */
export async function openOwnSecrets(context: TenantContext): Promise<TenantOperations> {
  const { surroundings, stateFolder } = context;
  const services = { secretsOf: async (_tenant: string) => secretStore(surroundings, stateFolder) };
  const { OperationRunner } = await import("../../operations/run-operation.ts");
  const client = await clientHere(context, new OperationRunner({ services, surface: "cli" }), "");
  return { client, store: undefined, tenant: DEFAULT_TENANT, again: "", async [Symbol.asyncDispose]() {} };
}

/** Does operations at the gateway of a command line. */
async function openGateway(context: GatewayContext, given: GivenGateway): Promise<CommandOperations> {
  const { GatewayClient } = await import("../../operations/client.ts");
  const { gateway, tenant } = given;
  // What an operation hints at names its own tenant.
  const client = new GatewayClient({ ...(await gatewayOptions(context, given)), again: gatewayAgain({ gateway }) });
  return { client, store: undefined, again: gatewayAgain({ gateway, tenant }), async [Symbol.asyncDispose]() {} };
}

/** The options that select the same tenant at a gateway, for commands to copy. */
function gatewayAgain({ gateway, tenant }: { gateway: string; tenant?: string | undefined }): string {
  const ofTenant = tenant === undefined ? "" : ` --tenant ${quoteWord(tenant)}`;
  return `${ofTenant} --gateway ${quoteWord(maskUrl(gateway))}`;
}

type GatewayContext = Pick<CommandContext, "surroundings" | "signal" | "flags" | "out">;

interface GivenGateway {
  gateway: string;
  /** `-`: the key is read from stdin. Undefined: it is in NEXUS_KEY. */
  key?: string | undefined;
  database?: string | undefined;
  tenant?: string | undefined;
}

/** How the gateway of a command line is reached. */
async function gatewayOptions(
  { surroundings, signal, flags: { timeoutMs }, out }: GatewayContext,
  { gateway, key, database }: GivenGateway,
): Promise<Omit<GatewayClientOptions, "again">> {
  if (database !== undefined) {
    throw wrongUsage("--gateway and --database exclude each other", "A gateway uses its own database.");
  }
  const url = parseWebOrigin(gateway);
  if (url === undefined) {
    const whole = /^https?:/i.test(gateway) ? gateway : `http://${gateway}`;
    const origin = URL.canParse(whole) && new URL(whole).hostname !== "" ? new URL(whole).origin : undefined;
    const hint = `Use only its scheme, host and port: ${origin ?? "http://127.0.0.1:3210"}`;
    throw wrongUsage(`--gateway "${maskUrl(gateway)}" is not the address of a gateway`, hint);
  }
  return { url, key: await keyOf(key, { variables: surroundings.variables, out, signal }), signal, timeoutMs };
}

async function keyOf(
  option: string | undefined,
  { variables, ...input }: KeyInput & Pick<CommandContext["surroundings"], "variables">,
): Promise<string> {
  const given = option === "-" ? await readKey(input) : (option ?? variables["NEXUS_KEY"]);
  if (given !== undefined && given.trim() !== "") return given.trim();
  throw new NexusError("AUTH_REQUIRED", "The gateway needs an API key", {
    hint: "Put it into the variable NEXUS_KEY. Where --key is not a filter, --key - reads it from stdin.",
    mayHaveReached: false,
  });
}

type KeyInput = Pick<CommandContext, "out" | "signal">;

/** Typed at the terminal, or from another program. */
async function readKey({ out, signal }: KeyInput): Promise<string> {
  if (!out.isInteractive) return text(addAbortSignal(signal, process.stdin));
  const { askFor } = await import("../output/terminal-questions.ts");
  return askFor(out, { text: "Key of the gateway (not shown)", hidden: true, signal });
}

/** Whoever can open the store does what an admin of all tenants may, and it is recorded with the name of the account. */
async function localClient(
  store: Store,
  { isDefault, optionsAgain }: Pick<ChosenStore, "isDefault" | "optionsAgain">,
  context: OperatedContext,
): Promise<OperationClient> {
  const [{ OperationRunner, recordChange }, { LocalAudit }] = await Promise.all([
    import("../../operations/run-operation.ts"),
    import("../../operations/local-audit.ts"),
  ]);
  const logger = verboseLogger(context.out);
  const audit = new LocalAudit({ store, loadSettings: () => auditSettings(context), logger });
  const runner = new OperationRunner<Services>({
    services: await localServices(store, { isDefault }, context),
    surface: "cli",
    requireRecordable: (tenant) => audit.requireReady(tenant),
    record: (change) => recordChange(store, audit, change),
  });
  return clientHere(context, runner, optionsAgain);
}

/** Does operations as the local account. */
async function clientHere(
  { signal }: Pick<CommandContext, "signal">,
  runner: ConstructorParameters<typeof LocalClient>[0],
  again: string,
): Promise<OperationClient> {
  const [{ LocalClient: Here }, { accountActor }] = await Promise.all([
    import("../../operations/client.ts"),
    import("../../operations/actor.ts"),
  ]);
  return new Here(runner, { actor: accountActor(accountName()), signal, again });
}

async function localServices(
  store: Store,
  { isDefault }: Pick<ChosenStore, "isDefault">,
  context: OperatedContext,
): Promise<Services> {
  const { LoadedToolFiles } = await import("../../operations/loaded-tool-files.ts");
  const { surroundings, stateFolder, out, openServers, signal } = context;
  return {
    store,
    // The hosts of a gateway are in its own process.
    gateway: { findHost: () => undefined, useHost: async () => undefined, activityOf: () => undefined },
    async useServers<T>(tenant: string, use: (servers: ExplainedServers) => Promise<T>) {
      await using servers = await openServers({ ...asksAnyone, tenant });
      const { directory } = servers;
      return await use({
        directory,
        async findTool(server, name) {
          const client = await servers.connect(directory.get(server), { signal });
          const tools = await client.listTools({ signal });
          const searched = client.searchedIn(tools);
          const found = [...tools, ...searched].find((tool) => tool.name === name);
          return found && toolTarget(server, found, searched);
        },
      });
    },
    async secretsOf(tenant) {
      await store.tenants.require(tenant);
      return tenant === DEFAULT_TENANT && isDefault ? secretStore(surroundings, stateFolder) : store.secrets(tenant);
    },
    toolFiles: new LoadedToolFiles(),
    stateFolder,
    logger: verboseLogger(out),
  };
}

/** Those of a gateway on this store. One whose configuration cannot be read has an audit as well. */
async function auditSettings({ surroundings, flags }: OperatedContext): Promise<AuditSettings> {
  const { home, platform, variables } = surroundings;
  try {
    return await loadAuditSettings({ cwd: process.cwd(), home, platform, variables }, flags.config);
  } catch (error) {
    if (error instanceof NexusError && error.details.source !== undefined) return DEFAULT_AUDIT;
    throw error;
  }
}

function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    // The account has no entry, as in some containers.
    return "unknown";
  }
}
