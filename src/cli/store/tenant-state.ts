import { join } from "node:path";
import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import { tenantFolder } from "../../auth/tenant-folder.ts";
import type { SecretStore } from "../../auth/secrets.ts";
import { openApiWith } from "../../compose/open-api.ts";
import type { TrustStore } from "../../config/trust/trust-store.ts";
import type { OpenedLedger } from "../../host/definitions/lazy-ledger.ts";
import { FileEraCache, type EraCache } from "../../host/servers/era-cache.ts";
import { secretsOpenedBy, secretStore, trustStore } from "../../host/servers/load-options.ts";
import type { OpenApi } from "../../host/servers/server-connector.ts";
import type { Store } from "../../store/store.ts";
import { quoteWord } from "../../text/shell-words.ts";
import type { CommandContext } from "../command/command.ts";
import { shownValue } from "../command/in-place.ts";
import type { ServerSource } from "../command/server-set.ts";

/** A context of any command: its options may name a tenant and a database. */
type StateContext = Pick<CommandContext, "flags" | "surroundings" | "stateFolder" | "out"> & { options: object };

/**
 * What belongs to the tenant of a command: in the store for tenants other than `default`, and for `default` where a database
 * was chosen; otherwise in the user's files. The database is opened when something of it is needed.
 */
export class TenantState implements ServerSource {
  readonly tenant: string;
  readonly stateFolder: string;
  readonly secrets: SecretStore;
  readonly trust: TrustStore;
  readonly eras: EraCache;
  readonly openApi: OpenApi;
  readonly load: ServerSource["load"];
  readonly optionsAgain: string;
  readonly #context: StateContext;
  readonly #database: string | undefined;
  #opening: Promise<Store | undefined> | undefined;

  constructor(context: StateContext, given?: string) {
    const { surroundings, stateFolder } = context;
    const { tenant, database } = context.options as { tenant?: string; database?: string };
    this.#context = context;
    this.#database = database;
    this.tenant = given ?? tenant ?? DEFAULT_TENANT;
    const isOther = this.tenant !== DEFAULT_TENANT;
    this.optionsAgain = tenantAgain(this.tenant, database);
    this.stateFolder = tenantFolder(stateFolder, this.tenant);
    this.secrets = secretsOpenedBy(async () => {
      return (await this.findStore())?.secrets(this.tenant) ?? secretStore(surroundings, stateFolder);
    });
    const ownTrust = trustStore(surroundings, stateFolder);
    this.trust = isOther ? this.#sharedTrust(ownTrust) : ownTrust;
    this.eras = isOther ? this.#storedEras() : new FileEraCache(join(stateFolder, "eras.json"));
    this.openApi = openApiWith({
      findState: async () => {
        const store = await this.findStore();
        return store && (await import("../../compose/stored-state.ts")).apiState(store);
      },
      findPublished: async () => {
        const store = await this.findStore();
        return store && (await import("../../compose/stored-state.ts")).followedApis(store, this.tenant);
      },
    });
    this.load = isOther ? (load) => this.#load(load) : undefined;
  }

  /** The store, if what belongs to the tenant is there. */
  findStore(): Promise<Store | undefined> {
    return (this.#opening ??= this.#open());
  }

  /** The store of another tenant than `default`. */
  async getStore(): Promise<Store> {
    const store = await this.findStore();
    if (!store) throw new TypeError(`the tenant ${this.tenant} has no store`);
    return store;
  }

  /** For `default`, the user's own database is used if no other was chosen. */
  async openLedger(): Promise<OpenedLedger> {
    const shared = await this.findStore();
    const own = shared ?? (await this.#openOwn());
    const ledger = own.ledger(this.tenant, { keepsUnpinned: false });
    return { ledger, [Symbol.asyncDispose]: async () => (shared ? undefined : own.close()) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const opening = this.#opening;
    this.#opening = undefined;
    const store = await opening?.catch(() => undefined);
    await store?.close();
  }

  async #open(): Promise<Store | undefined> {
    const { chosenStore, chosenStoreOrDefault } = await import("./chosen-database.ts");
    const context = { ...this.#context, options: { database: this.#database } };
    const isOther = this.tenant !== DEFAULT_TENANT;
    const chosen = await (isOther ? chosenStore(context) : chosenStoreOrDefault(context));
    if (chosen.isDefault && !isOther) return undefined;
    const [{ Store: Opened }, { unknownTenant }] = await Promise.all([
      import("../../store/store.ts"),
      import("../../store/keep/tenants.ts"),
    ]);
    const store = await Opened.open(chosen);
    if (await store.tenants.find(this.tenant)) return store;
    await store.close();
    throw unknownTenant(this.tenant);
  }

  async #openOwn(): Promise<Store> {
    const [{ chosenStore }, { Store: Opened }] = await Promise.all([
      import("./chosen-database.ts"),
      import("../../store/store.ts"),
    ]);
    return Opened.open(await chosenStore({ ...this.#context, options: { database: this.#database } }));
  }

  #sharedTrust(own: TrustStore): TrustStore {
    const shared = async () => {
      const { sharedTrust } = await import("../../compose/stored-state.ts");
      return sharedTrust(own, (await this.getStore()).trust);
    };
    return {
      isTrusted: async (file, fingerprint) => (await shared()).isTrusted(file, fingerprint),
      trust: async (file, fingerprint) => (await shared()).trust(file, fingerprint),
      revoke: async (file) => (await shared()).revoke(file),
    };
  }

  #storedEras(): EraCache {
    return {
      find: async (key) => (await this.getStore()).eras(this.tenant).find(key),
      remember: async (key, era) => (await this.getStore()).eras(this.tenant).remember(key, era),
    };
  }

  async #load(load: Parameters<NonNullable<ServerSource["load"]>>[0]): ReturnType<NonNullable<ServerSource["load"]>> {
    const { defineTenantServers } = await import("../../team/tenant-definitions.ts");
    const { serverId } = await import("../../config/read/server-id.ts");
    const kept = await (await this.getStore()).servers(this.tenant).list();
    const { home, platform, variables, askInput, explicit: config } = load;
    const own = { secrets: this.secrets, secretOptions: this.optionsAgain };
    const options = { home, platform, variables, ...own, askInput, config };
    return {
      definitions: await defineTenantServers({ list: async () => kept }, options),
      entries: new Map(kept.servers.map(({ name, entry }) => [serverId(name), entry])),
    };
  }
}

/** Whether an option names a tenant that has no configuration files. */
export function isOtherTenant(tenant: string | undefined): tenant is string {
  return tenant !== undefined && tenant !== DEFAULT_TENANT;
}

/** The options that select the same tenant and database, for commands to copy. */
export function tenantAgain(tenant: string | undefined, database: string | undefined): string {
  return `${isOtherTenant(tenant) ? ` --tenant ${quoteWord(tenant)}` : ""}${databaseAgain(database)}`;
}

/** The address of PostgreSQL may contain a password. */
function databaseAgain(database: string | undefined): string {
  if (database === undefined) return "";
  return ` --database ${quoteWord(shownValue("database", database))}`;
}
