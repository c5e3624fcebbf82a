import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DEFAULT_AUDIT, loadAuditSettings, type AuditSettings } from "../../config/gateway-settings.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { MasterKeyPlace } from "../../store/master-key.ts";
import { sqliteAddress } from "../../store/engine/database-address.ts";
import { sqliteProblem } from "../../store/engine/sqlite-handle.ts";
import { Store } from "../../store/store.ts";
import { KeyDoor } from "../../team/key-door.ts";
import { RequestAllowance } from "../../team/request-allowance.ts";
import { StoredAudit } from "../../team/stored-audit.ts";
import { StoredSets } from "../../team/stored-sets.ts";
import { TenantHosts } from "../../team/tenant-hosts.ts";
import { isLoopback } from "../../text/loopback.ts";
import { type Logger, childLogger } from "../../text/logger.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { CommandContext } from "../command/command.ts";
import { chosenStoreOrDefault, type ChosenStore } from "../store/chosen-database.ts";
import { tenantFolder } from "../../auth/tenant-folder.ts";
import { storedState } from "../../compose/stored-state.ts";
import { Host } from "../../host/host.ts";
import type { HostOptions } from "../../host/host-options.ts";
import { trustStore } from "../../host/servers/load-options.ts";
import { definePublished } from "../../team/published-servers.ts";
import { defineTenantServers } from "../../team/tenant-definitions.ts";
import type { Surroundings } from "../../transport/surroundings.ts";
import type { Output } from "../output/output.ts";
import { ServerNews } from "./server-news.ts";

interface TenantsContext {
  surroundings: Surroundings;
  stateFolder: string;
  /** The file of --config. */
  config: string | undefined;
  /** What all hosts share: the budget of processes, and the timeout. */
  shared: Pick<HostOptions, "processes" | "timeoutMs">;
  /** Called with each host that is opened. */
  onHost: (host: Host) => void;
  logger: Logger;
  out: Output;
}

/** The hosts of tenants other than `default`: their servers are in the store, and so is what they keep. */
function followTenants(store: Store, context: TenantsContext): Promise<TenantHosts> {
  const { surroundings, stateFolder, config, shared, onHost, logger, out } = context;
  const { home, platform, variables } = surroundings;
  const ownTrust = trustStore(surroundings, stateFolder);
  return TenantHosts.follow({
    store,
    logger,
    start: async (tenant) => {
      const folder = tenantFolder(stateFolder, tenant);
      const state = storedState(store, tenant, ownTrust);
      const own = childLogger(logger, { tenant });
      const definitions = store.ledger(tenant, { logger: own });
      const options = { servers: {}, stateFolder: folder, logger: own, definitions, ...shared, ...state };
      const host = await Host.start(options, surroundings);
      // It hears nothing more when the host is closed.
      ServerNews.follow(host, out, tenant);
      onHost(host);
      return host;
    },
    define: async (tenant) => {
      const own = { secrets: store.secrets(tenant), secretOptions: ` --tenant ${tenant}` };
      const published = await definePublished(store.apis(tenant));
      return defineTenantServers(store.servers(tenant), { home, platform, variables, ...own, published, config });
    },
  });
}

const AUTHS = ["none", "keys"] as const;

interface DoorOptions {
  readonly auth?: string | undefined;
  readonly database?: string | undefined;
  readonly demo?: boolean | undefined;
  readonly host?: string | undefined;
}

/** Who may call the gateway of `nexus serve`, and what it keeps. */
export interface ServeDoor extends AsyncDisposable {
  /** Undefined: everybody who reaches it may call. */
  door: KeyDoor | undefined;
  /** Undefined where nothing is stored. */
  store: Store | undefined;
  sets: StoredSets | undefined;
  audit: StoredAudit | undefined;
  /** Counts what callers use. */
  allowance: RequestAllowance | undefined;
  /** Opens the hosts of other tenants. Undefined where no key names a tenant. */
  followTenants: ((context: TenantsContext) => Promise<TenantHosts>) | undefined;
  /** Whether the tenant `default` also keeps its secrets and recorded writes in the store. */
  isChosen: boolean;
  /** What a command must say to use the same store. */
  optionsAgain: string;
  /** Why nothing is stored, though it should be. */
  problem: NexusError | undefined;
}

const NOTHING_STORED = {
  door: undefined,
  store: undefined,
  sets: undefined,
  audit: undefined,
  allowance: undefined,
  followTenants: undefined,
  isChosen: false,
  optionsAgain: "",
  async [Symbol.asyncDispose]() {},
};

/** Opens the store and the door that the options ask for. */
export async function openDoor(
  context: CommandContext<DoorOptions>,
  { address = "127.0.0.1", logger }: { address?: string | undefined; logger: Logger },
): Promise<ServeDoor> {
  const { auth } = context.options;
  if (auth !== undefined && !AUTHS.some((known) => known === auth)) {
    throw wrongUsage(`--auth "${auth}" is unknown`, `Use ${AUTHS.join(" or ")}.`);
  }
  const isLocal = isLoopback(address);
  if (auth === "none" && !isLocal) {
    throw wrongUsage(
      `--auth none is refused on ${address}: everyone in the network could use every server`,
      "Use --auth keys and create a key: nexus keys create NAME --allow PATTERN",
    );
  }
  const isDemoStore = context.options.demo === true && context.options.database === undefined;
  if (isDemoStore && (auth === "keys" || !isLocal)) {
    throw wrongUsage(
      "The demo has its own temporary store, so a key cannot be created for it",
      "Add --database file:PATH, and use it with nexus keys create as well. Or serve the demo on 127.0.0.1 without --auth keys.",
    );
  }
  const place = await storePlace(context, logger);
  const problem = place.address.kind === "sqlite" ? await sqliteProblem() : undefined;
  const isNeeded = auth === "keys" || !isLocal || context.options.database !== undefined;
  if (problem) await place.remove?.();
  if (problem && isNeeded) throw problem;
  if (problem) return { ...NOTHING_STORED, problem };
  const settings = await auditSettingsOf(context, place);
  const store = await Store.open({ ...place, logger }).catch(async (error: unknown) => {
    await place.remove?.();
    throw error;
  });
  try {
    if (auth === undefined && !isLocal && (await store.keys.count()) === 0) throw nobodyCouldCall(address);
    const needs = auth === "keys" || !isLocal ? "keys" : "when-there-are-keys";
    const [door, sets] = await Promise.all([
      auth === "none" ? undefined : KeyDoor.open({ store, needs, logger }),
      StoredSets.open({ store, logger }),
    ]);
    const allowance = await RequestAllowance.open({
      store,
      limitsOf: door ? door.limitsOf : () => undefined,
      logger,
    });
    const audit = settings.enabled ? new StoredAudit({ store, settings, logger }) : undefined;
    return {
      door,
      store,
      sets,
      allowance,
      followTenants: door && ((around) => followTenants(store, around)),
      audit,
      isChosen: place.isChosen,
      optionsAgain: place.optionsAgain,
      problem: undefined,
      async [Symbol.asyncDispose]() {
        door?.[Symbol.dispose]();
        await allowance.close();
        await audit?.[Symbol.asyncDispose]();
        sets[Symbol.dispose]();
        await store.close();
        await place.remove?.();
      },
    };
  } catch (error) {
    await store.close();
    await place.remove?.();
    throw error;
  }
}

/** Most likely nobody has thought of it: a gateway that is open to a network, or one that refuses everybody. */
function nobodyCouldCall(address: string): NexusError {
  return new NexusError("CONFIG_INVALID", `The gateway does not listen on ${address} without authentication`, {
    phase: "config",
    hint: "Create a key first: nexus keys create NAME --allow PATTERN. Or use --auth keys and create it later.",
    mayHaveReached: false,
  });
}

/** The demo, and a gateway whose configuration cannot be read, have an audit as well. */
function auditSettingsOf(
  { surroundings, flags }: CommandContext<DoorOptions>,
  { isConfigured }: StorePlace,
): Promise<AuditSettings> | AuditSettings {
  const { home, platform, variables } = surroundings;
  return isConfigured
    ? loadAuditSettings({ cwd: process.cwd(), home, platform, variables }, flags.config)
    : DEFAULT_AUDIT;
}

interface StorePlace extends Pick<ChosenStore, "address" | "masterKey" | "logger" | "optionsAgain"> {
  /** True if the database was chosen, so that it also keeps what belongs to the tenant `default`. */
  isChosen: boolean;
  /** Whether the configuration could be read, and is the user's. */
  isConfigured: boolean;
  /** What was made for this run alone is removed. */
  remove?: () => Promise<void>;
}

async function storePlace(context: CommandContext<DoorOptions>, logger: Logger): Promise<StorePlace> {
  const { options, surroundings, out } = context;
  if (options.demo && options.database === undefined) return placeOfDemo(surroundings.platform, logger);
  const { problem, ...chosen } = await chosenStoreOrDefault(context);
  // A file that cannot be read does not keep the gateway from serving this machine: it is read again when it changes.
  if (problem && !isLoopback(options.host ?? "127.0.0.1")) throw problem;
  if (problem) {
    const { shown } = chosen.address;
    out.note(`A configuration file cannot be read, so ${shown} is used for keys until the next start.`);
  }
  return { ...chosen, isChosen: !chosen.isDefault, isConfigured: !problem, logger };
}

/** The demo leaves nothing behind, and sees nothing of what the user keeps. */
async function placeOfDemo(platform: NodeJS.Platform, logger: Logger): Promise<StorePlace> {
  const folder = await mkdtemp(join(tmpdir(), "nexus-demo-"));
  // Also where a second signal ends the program at once.
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return {
    address: sqliteAddress(join(folder, "nexus.db")),
    masterKey: new MasterKeyPlace({ stateFolder: folder, platform, variables: {} }),
    logger,
    isChosen: false,
    isConfigured: false,
    optionsAgain: "",
    remove: () => rm(folder, { recursive: true, force: true, maxRetries: 5 }),
  };
}
