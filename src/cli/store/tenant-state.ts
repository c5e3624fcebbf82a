import { existsSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import { tenantFolder } from "../../auth/tenant-folder.ts";
import type { SecretStore } from "../../auth/secrets.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import type { TrustStore } from "../../config/trust/trust-store.ts";
import type { OpenedLedger } from "../../host/definitions/lazy-ledger.ts";
import { FileEraCache, type EraCache } from "../../host/servers/era-cache.ts";
import { secretsOpenedBy, secretStore, trustStore } from "../../host/servers/load-options.ts";
import type { OpenApi } from "../../host/servers/server-connector.ts";
import type { Store } from "../../store/store.ts";
import { quoteWord } from "../../text/shell-words.ts";
import type { PublishedReach } from "../../transport/server-entry.ts";
import type { CommandContext } from "../command/command.ts";
import { databaseAgain } from "../command/in-place.ts";
import type { PublishedFile, ServerSource } from "../command/server-source.ts";

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
  readonly load: ServerSource["load"];
  readonly optionsAgain: string;
  readonly #context: StateContext;
  readonly #database: string | undefined;
  #opening: Promise<Store | undefined> | undefined;
  #publishing: Promise<Store | undefined> | undefined;

  constructor(context: StateContext, given?: string) {
    const { surroundings, stateFolder } = context;
    const { tenant, database } = context.options as { tenant?: string; database?: string };
    this.#context = context;
    this.#database = database;
    this.tenant = given ?? tenant ?? DEFAULT_TENANT;
    const isOther = this.tenant !== DEFAULT_TENANT;
    this.optionsAgain = tenantAgain(this.tenant, database);
    this.stateFolder = isOther ? tenantFolder(stateFolder, this.tenant) : stateFolder;
    this.secrets = secretsOpenedBy(async () => {
      return (await this.findStore())?.secrets(this.tenant) ?? secretStore(surroundings, stateFolder);
    });
    const ownTrust = trustStore(surroundings, stateFolder);
    this.trust = isOther ? this.#sharedTrust(ownTrust) : ownTrust;
    this.eras = isOther ? this.#storedEras() : new FileEraCache(join(stateFolder, "eras.json"));
    this.load = isOther ? (load) => this.#load(load) : undefined;
  }

  readonly openApi: OpenApi = async (reach, surroundings) => {
    const { openApiWith } = await import("../../compose/open-api.ts");
    const open = openApiWith({
      findState: async () => {
        const store = await this.findStore();
        return store && (await import("../../compose/stored-state.ts")).apiState(store);
      },
      findPublished: async () => {
        const store = await this.findPublishing();
        return store && (await import("../../compose/stored-state.ts")).followedApis(store, this.tenant);
      },
    });
    return open(reach, surroundings);
  };

  /** The store, if what belongs to the tenant is there. */
  findStore(): Promise<Store | undefined> {
    return (this.#opening ??= this.#open());
  }

  /** The store where APIs of the tenant are published; for `default`, the user's own if no other was chosen. */
  findPublishing(): Promise<Store | undefined> {
    return (this.#publishing ??= this.findStore().then((store) => store ?? this.#openExisting()));
  }

  /** What the tenant has published, each as the server that its address without a number is. */
  async published({ isSought = false } = {}): Promise<ServerDefinition[]> {
    const store = isSought || this.#mayHaveStore() ? await this.findPublishing() : undefined;
    if (!store) return [];
    const { definePublishedServers } = await import("../../team/tenant-definitions.ts");
    const { surroundings, flags } = this.#context;
    const defined = await definePublishedServers(store.apis(this.tenant), surroundings, flags.config);
    return defined.filter(({ versionOf }) => versionOf === undefined);
  }

  async findPublishedFile(reach: PublishedReach): Promise<PublishedFile | undefined> {
    const source = (await this.findPublishing())?.apis(this.tenant);
    if (!source) return undefined;
    const [{ loadVersion, readPublished }, { atAddresses, isElsewhere }] = await Promise.all([
      import("../../workshop/open-published.ts"),
      import("../../workshop/publish/instance-addresses.ts"),
    ]);
    const { instance, record } = await readPublished(source, reach);
    const { file } = (await loadVersion(source, record)).api;
    const { upstream } = instance;
    return isElsewhere(upstream) ? { file: atAddresses(file, instance), upstream: undefined } : { file, upstream };
  }

  /** The store of another tenant than `default`. */
  async getStore(): Promise<Store> {
    const store = await this.findStore();
    if (!store) throw new TypeError(`the tenant ${this.tenant} has no store`);
    return store;
  }

  get keepsDefinitions(): boolean {
    return this.#mayHaveStore();
  }

  /** For `default`, the user's own database is used if no other was chosen. */
  async openLedger(): Promise<OpenedLedger> {
    const shared = await this.findStore();
    const own = shared ?? (await this.#openOwn());
    const ledger = own.ledger(this.tenant, { keepsUnpinned: false });
    return { ledger, [Symbol.asyncDispose]: async () => (shared ? undefined : own.close()) };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const opening = [this.#opening, this.#publishing].filter((store) => store !== undefined);
    this.#opening = undefined;
    this.#publishing = undefined;
    const stores = await Promise.all(opening.map((store) => store.catch(() => undefined)));
    for (const store of new Set(stores)) await store?.close();
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

  /** Most users have none, and commands start faster without looking for one in the configuration. */
  #mayHaveStore(): boolean {
    const { stateFolder, surroundings } = this.#context;
    const isChosen = this.#database !== undefined || (surroundings.variables["NEXUS_DATABASE"] ?? "") !== "";
    return isChosen || this.tenant !== DEFAULT_TENANT || existsSync(join(stateFolder, "nexus.db"));
  }

  /** The user's own store. */
  async #openExisting(): Promise<Store | undefined> {
    const [{ chosenStoreOrDefault }, { isMissingFile }] = await Promise.all([
      import("./chosen-database.ts"),
      import("../../store/engine/database-address.ts"),
    ]);
    const chosen = await chosenStoreOrDefault({ ...this.#context, options: { database: this.#database } });
    if (isMissingFile(chosen.address)) return undefined;
    const { Store: Opened } = await import("../../store/store.ts");
    return Opened.open({ ...chosen, create: false });
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
    const { serverId } = await import("../../text/server-id.ts");
    const kept = await (await this.getStore()).servers(this.tenant).list();
    const { home, platform, variables, askInput, explicit: config } = load;
    const own = { secrets: this.secrets, secretOptions: this.optionsAgain };
    const options = { home, platform, variables, ...own, askInput, config };
    return {
      definitions: await defineTenantServers(
        { list: async () => kept },
        { ...options, published: await this.published() },
      ),
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
