import { messageOf } from "../../errors/nexus-error.ts";
import type { Pin } from "../../config/read/server-definition.ts";
import type { ListKind } from "../../protocol/list-kinds.ts";
import type { Logger } from "../../text/logger.ts";
import { matchesName } from "../directory/policy.ts";
import type { DefinitionChange, DefinitionLedger, NamedDefinition, ReadList, Standing } from "./definition-ledger.ts";
import { heldDefinition, RETRY_AFTER_MS } from "./held-definition.ts";
import { listedDefinitions } from "./listed-definitions.ts";

interface PinsOptions {
  ledger: DefinitionLedger;
  /** The `pin` of a server's entry. */
  pinOf: (server: string) => Pin | undefined;
  /** The options that commands about the same definitions need, such as ` --tenant NAME`. */
  optionsAgain: string;
  logger: Logger;
  /** `list`: the one that shows the changes. */
  onChanges?: ((changes: readonly DefinitionChange[], list: ReadList) => void) | undefined;
  /** Called when a list could be compared after all. Without it, a comparison that failed is not repeated. */
  onCompared?: ((server: string) => void) | undefined;
}

/** The items of one list as the server sent them. */
export interface ReceivedList {
  server: string;
  kind: ListKind;
  isCommon: boolean;
  items: readonly unknown[];
}

/** The hashes of a list's definitions by name. */
export type ListHashes = ReadonlyMap<string, string>;

export const NO_HASHES: ListHashes = new Map();

/** Pinned definitions: they are shown and used only as they were accepted. */
export class Pins {
  readonly #options: PinsOptions;
  /** Comparisons of servers that are not pinned, which nobody waits for. */
  readonly #comparing = new Map<string, Promise<unknown>>();
  /** How often each list was read: only the newest one is compared again if it could not be. */
  readonly #reads = new Map<string, number>();
  readonly #retries = new Map<string, NodeJS.Timeout>();
  readonly #otherPins = new Set<(server: string) => boolean>();
  #isClosed = false;

  constructor(options: PinsOptions) {
    this.#options = options;
  }

  /** Whether anything of the server is pinned by its entry. */
  concerns(server: string): boolean {
    return this.#options.pinOf(server) !== undefined;
  }

  /** Whether anything of the server is pinned, by its entry or elsewhere. Not for the path of a call. */
  watches(server: string): boolean {
    return this.concerns(server) || [...this.#otherPins].some((pins) => pins(server));
  }

  /** Adds pins that are not in the entries of servers, such as those of sets. Returns a function that removes them. */
  addPins(pins: (server: string) => boolean): () => void {
    this.#otherPins.add(pins);
    return () => this.#otherPins.delete(pins);
  }

  /** Whether this definition is pinned by the entry of its server. */
  isPinned({ server, kind, name }: Omit<NamedDefinition, "hash">): boolean {
    const pin = this.#options.pinOf(server);
    // A list of patterns pins tools only.
    return pin === true || (pin !== undefined && kind === "tools" && pin.some((pattern) => matchesName(pattern, name)));
  }

  /**
   * Compares a list that was just read with what was accepted. Waits for the result only where something is pinned;
   * what could not be compared is not accepted.
   */
  async compare({ server, kind, isCommon, items }: ReceivedList): Promise<ListHashes> {
    const { ledger, logger } = this.#options;
    const isPinned = this.watches(server);
    if (!isPinned && !ledger.keepsUnpinned) return NO_HASHES;
    const definitions = listedDefinitions(kind, items);
    const list: ReadList = { server, kind, isCommon, isPinned, definitions };
    const key = keyOf(list);
    const read = (this.#reads.get(key) ?? 0) + 1;
    this.#reads.set(key, read);
    const comparing = this.#record(list).catch((error: unknown) => {
      const text = `the ${kind} of "${server}" could not be compared with what was accepted: ${messageOf(error)}`;
      if (isPinned) logger.warn(text);
      else logger.debug(text);
      this.#retryLater(list, { key, read });
    });
    if (this.concerns(server)) await comparing;
    else this.#follow(server, comparing);
    return hashesOf(definitions);
  }

  /**
   * The hashes of a list that was read some time ago, if something of its server is pinned: what was accepted is known after
   * this. Nothing is compared, because the server may list something else now.
   */
  async recall({ server, kind, items }: Omit<ReceivedList, "isCommon">): Promise<ListHashes> {
    const { ledger, logger } = this.#options;
    if (!this.watches(server)) return NO_HASHES;
    await ledger.load?.(server).catch((error: unknown) => {
      logger.warn(`what was accepted of "${server}" could not be read: ${messageOf(error)}`);
    });
    return hashesOf(listedDefinitions(kind, items));
  }

  /** Resolves when the lists of a server that were read so far are compared; undefined if they are. */
  settled(server: string): Promise<unknown> | undefined {
    return this.#comparing.get(server);
  }

  /** Ends what is repeated. */
  close(): void {
    this.#isClosed = true;
    for (const timer of this.#retries.values()) clearTimeout(timer);
  }

  async #record(list: ReadList): Promise<void> {
    const { ledger, onChanges } = this.#options;
    const changes = await ledger.compare(list);
    if (changes.length > 0) onChanges?.(changes, list);
  }

  /** The database may be away for a while; the list itself may not be read again for a long time. */
  #retryLater(list: ReadList, { key, read }: { key: string; read: number }): void {
    const { onCompared } = this.#options;
    const isOver = () => this.#isClosed || this.#reads.get(key) !== read;
    if (!onCompared || isOver()) return;
    const retry = () => {
      if (isOver()) return;
      this.#record(list).then(
        () => onCompared(list.server),
        () => this.#retryLater(list, { key, read }),
      );
    };
    clearTimeout(this.#retries.get(key));
    this.#retries.set(key, setTimeout(retry, RETRY_AFTER_MS).unref());
  }

  #follow(server: string, comparing: Promise<unknown>): void {
    const all = Promise.all([this.#comparing.get(server), comparing]).then(() => {
      if (this.#comparing.get(server) === all) this.#comparing.delete(server);
    });
    this.#comparing.set(server, all);
  }

  /** Why a definition is held; undefined if it can be used. `always`: as if the server were pinned. */
  findHold(definition: NamedDefinition, { always = false } = {}): Exclude<Standing, "accepted"> | undefined {
    if (!always && !this.isPinned(definition)) return undefined;
    const standing = this.#options.ledger.standingOf(definition);
    return standing === "accepted" ? undefined : standing;
  }

  /** Throws DEFINITION_CHANGED if a definition is held. */
  requireAccepted(definition: NamedDefinition, options: { always?: boolean } = {}): void {
    const hold = this.findHold(definition, options);
    if (hold) throw heldDefinition(definition, hold, this.#options.optionsAgain);
  }
}

function hashesOf(definitions: ReadList["definitions"]): ListHashes {
  return new Map([...definitions].map(([name, { hash }]) => [name, hash]));
}

function keyOf({ server, kind, isCommon }: ReadList): string {
  return `${server} ${kind} ${isCommon ? "all" : "some"}`;
}
