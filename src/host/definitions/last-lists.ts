import { promises as fs } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { HiddenValues } from "../../masking/hidden-values.ts";
import { messageOf } from "../../errors/nexus-error.ts";
import { writeAtomic } from "../../files/atomic-write.ts";
import { findRegularText } from "../../files/regular-file.ts";
import { isRecord } from "../../json/is-record.ts";
import { LIST_KINDS, type ListKind } from "../../protocol/list-kinds.ts";
import type { ClientCapabilities } from "../../protocol/mcp.ts";
import { sha256 } from "../../text/digest.ts";
import type { Logger } from "../../text/logger.ts";
import { mayBeSecretName } from "../../masking/secret-names.ts";

/** A list as its server sent it the last time. */
export interface LastList {
  items: readonly unknown[];
  /** When it was seen, in milliseconds since 1970. */
  at: number;
}

interface LastListsOptions {
  folder: string;
  /** Its logins decide what servers list. */
  tenant: string;
  /** What the host declares to servers, which may list other things to clients with other capabilities. */
  capabilities: ClientCapabilities;
  logger: Logger;
}

interface KnownServer {
  at: number;
  lists: Partial<Record<ListKind, readonly unknown[]>>;
}

const DAY_MS = 86_400_000;
/** Older ones are not used, and removed. */
const MAX_AGE_MS = 90 * DAY_MS;
/** The maximum length of the lists of one server as JSON. Longer ones are not kept. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Of all files in the folder; the oldest ones are removed. */
const MAX_FILES = 500;
const MAX_TOTAL_BYTES = 64 * 1024 * 1024;
/** The lists of a server are read together, so they are written together. */
const WRITE_AFTER_MS = 200;

/**
 * What servers listed the last time, so that a server can be listed while it starts. In a file each, by what identifies the
 * server: one that is started or reached in another way is another server. It is only a cache: failures are ignored.
 */
export class LastLists {
  readonly #options: LastListsOptions;
  readonly #known = new Map<string, KnownServer>();
  readonly #unwritten = new Map<string, ServerDefinition>();
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(options: LastListsOptions) {
    this.#options = options;
  }

  /** Undefined if the list was never seen. */
  find(definition: ServerDefinition, kind: ListKind): LastList | undefined {
    const key = this.#keyOf(definition);
    const known = key === undefined ? undefined : this.#load(key);
    const items = known?.lists[kind];
    return known && items && { items, at: known.at };
  }

  /** Remembers a list that was just read, as the server sent it. */
  note(definition: ServerDefinition, kind: ListKind, items: readonly unknown[]): void {
    const key = this.#keyOf(definition);
    if (key === undefined) return;
    const known = this.#load(key) ?? { at: 0, lists: {} };
    const isSame = isDeepStrictEqual(known.lists[kind], items);
    const now = Date.now();
    this.#known.set(key, { at: now, lists: { ...known.lists, [kind]: items } });
    // What has not changed is written again once a day, so that it is not removed as old.
    if (isSame && now - known.at < DAY_MS && !this.#unwritten.has(key)) return;
    this.#unwritten.set(key, definition);
    this.#timer ??= setTimeout(() => void this.flush(), WRITE_AFTER_MS).unref();
  }

  /** Resolves when everything is written. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const servers = [...this.#unwritten];
    this.#unwritten.clear();
    if (servers.length > 0) this.#writing = this.#writing.then(() => this.#write(servers));
    return this.#writing;
  }

  async #write(servers: readonly (readonly [string, ServerDefinition])[]): Promise<void> {
    try {
      for (const [key, definition] of servers) await this.#writeOne(key, definition);
      await this.#prune();
    } catch (error) {
      this.#options.logger.debug(`the lists of servers could not be remembered: ${messageOf(error)}`);
    }
  }

  async #writeOne(key: string, definition: ServerDefinition): Promise<void> {
    const text = JSON.stringify(this.#known.get(key));
    // A server may repeat a secret of its entry in what it lists.
    const isKept = text.length <= MAX_BYTES && secretsOf(definition).in(text) === text;
    if (isKept) await writeAtomic(this.#file(key), text, 0o600);
    else await fs.rm(this.#file(key), { force: true });
  }

  /** Removes the oldest files beyond the limits. Another process may do the same. */
  async #prune(): Promise<void> {
    const { folder } = this.#options;
    const names = await fs.readdir(folder);
    const found = await Promise.all(
      names.map(async (name) => {
        const path = join(folder, name);
        const facts = await fs.stat(path).catch(() => undefined);
        return facts?.isFile() ? [{ path, bytes: facts.size, at: facts.mtimeMs }] : [];
      }),
    );
    const newest = found.flat().toSorted((a, b) => b.at - a.at);
    let bytes = 0;
    const old = newest.filter((file, index) => {
      bytes += file.bytes;
      return index >= MAX_FILES || bytes > MAX_TOTAL_BYTES || Date.now() - file.at > MAX_AGE_MS;
    });
    await Promise.all(old.map(({ path }) => fs.rm(path, { force: true })));
  }

  #load(key: string): KnownServer | undefined {
    const known = this.#known.get(key) ?? read(this.#file(key));
    if (known) this.#known.set(key, known);
    return known;
  }

  #file(key: string): string {
    return join(this.#options.folder, `${key}.json`);
  }

  /** Undefined for servers of this process, which start at once. */
  #keyOf(definition: ServerDefinition): string | undefined {
    const { tenant, capabilities } = this.#options;
    const server = serverKey(definition, tenant);
    return server && `${server}-${sha256(JSON.stringify(capabilities)).slice(0, 16)}`;
  }
}

/** After a login or logout: what a server listed for somebody else is not shown any more. */
export async function forgetLastLists(
  stateFolder: string,
  { definition, tenant }: { definition: ServerDefinition; tenant: string },
): Promise<void> {
  const server = serverKey(definition, tenant);
  const folder = listsFolder(stateFolder);
  const names = await fs.readdir(folder).catch((): string[] => []);
  const own = names.filter((name) => server !== undefined && name.startsWith(`${server}-`));
  await Promise.all(own.map((name) => fs.rm(join(folder, name), { force: true })));
}

export function listsFolder(stateFolder: string): string {
  return join(stateFolder, "lists");
}

function serverKey({ entry }: ServerDefinition, tenant: string): string | undefined {
  if (!entry || entry.reach.kind === "api") return undefined;
  return sha256(JSON.stringify([tenant, entry.reach]));
}

/** The secrets of an entry: those that were resolved, and those that are written into it. */
function secretsOf({ entry, secrets }: ServerDefinition): HiddenValues {
  const reach = entry?.reach;
  const named = reach?.kind === "stdio" ? reach.env : reach?.kind === "api" ? {} : (reach?.headers ?? {});
  // Without the scheme: "Bearer TOKEN".
  const written = Object.entries(named).flatMap(([name, value]) =>
    mayBeSecretName(name) ? [value, ...value.split(/\s+/).slice(1)] : [],
  );
  return new HiddenValues(written).with(secrets);
}

function read(file: string): KnownServer | undefined {
  try {
    const { at, lists }: Partial<KnownServer> = JSON.parse(findRegularText(file, MAX_BYTES) ?? "{}") ?? {};
    if (typeof at !== "number" || !(Date.now() - at < MAX_AGE_MS) || !isRecord(lists)) return undefined;
    const known = LIST_KINDS.flatMap((kind) => (Array.isArray(lists[kind]) ? [[kind, lists[kind]]] : []));
    return { at, lists: Object.fromEntries(known) as KnownServer["lists"] };
  } catch {
    return undefined;
  }
}
