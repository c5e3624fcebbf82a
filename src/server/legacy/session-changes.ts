import { Turns } from "../../async/turns.ts";
import type { Logger } from "../../text/logger.ts";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import type { Core, ListenRequest, Listening } from "../core/core.ts";
import type { ChangingList } from "../../protocol/list-kinds.ts";

interface ChangesOptions extends Omit<ListenRequest, "interests"> {
  core: Core;
  /** Always listened for. */
  lists: readonly ChangingList[];
  logger: Logger;
}

/** Each change of the interests names all of them, so they cannot be any number. */
const MAX_RESOURCES = 1024;
/** Of all their URIs together. */
const MAX_URI_LENGTH = 256 * 1024;

/** What one legacy session hears of: the lists, and the resources that its client subscribed to. */
export class SessionChanges {
  readonly #options: ChangesOptions;
  readonly #resources = new Set<string>();
  #listening: Listening | undefined;
  /** One change of the interests at a time: the later one must not be overtaken. */
  readonly #turns = new Turns();
  #closed = false;

  constructor(options: ChangesOptions) {
    this.#options = options;
  }

  /** Hears of the lists from now on. A session works without, so failing is only noted. */
  start(): void {
    if (this.#options.lists.length === 0) return;
    void this.#turns
      .run(() => (this.#listening ? Promise.resolve() : this.#apply()))
      .catch((error: unknown) => {
        this.#options.logger.warn(`cannot subscribe to changes of lists: ${messageOf(error)}`);
      });
  }

  /** False where the server tells nothing of it. */
  subscribe(uri: string): Promise<boolean> {
    return this.#turns.run(async () => {
      const isNew = !this.#resources.has(uri);
      const length = [...this.#resources].reduce((sum, each) => sum + each.length, uri.length);
      if (isNew && (this.#resources.size >= MAX_RESOURCES || length > MAX_URI_LENGTH)) throw tooMany();
      this.#resources.add(uri);
      try {
        await this.#apply();
        if (this.#listening?.accepted.resources?.includes(uri)) return true;
      } catch (error) {
        if (isNew) this.#resources.delete(uri);
        throw error;
      }
      this.#resources.delete(uri);
      return false;
    });
  }

  unsubscribe(uri: string): Promise<void> {
    return this.#turns.run(async () => {
      if (this.#resources.delete(uri)) await this.#apply();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#turns.ended();
    await this.#listening?.close();
  }

  async #apply(): Promise<void> {
    if (this.#closed) return;
    const { core, lists, logger: _, ...request } = this.#options;
    const interests = { lists, resources: [...this.#resources] };
    if (this.#listening) await this.#listening.update(interests);
    else this.#listening = await core.listen({ ...request, interests });
  }
}

function tooMany(): NexusError {
  const limit = `${MAX_RESOURCES} resources and ${MAX_URI_LENGTH} characters of URIs`;
  const message = `Subscription limit of this session reached (${limit}). Unsubscribe from other resources first.`;
  return new NexusError("DENIED", message, { mayHaveReached: false });
}
