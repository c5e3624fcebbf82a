import type { DefinitionChange, DefinitionLedger, NamedDefinition, ReadList, Standing } from "./definition-ledger.ts";

/** An opened ledger and what has to be closed after it. */
export interface OpenedLedger extends AsyncDisposable {
  ledger: DefinitionLedger;
}

/** A ledger that is opened when the first list of a pinned server is compared, because others do not need it. */
export class LazyLedger implements DefinitionLedger, AsyncDisposable {
  readonly keepsUnpinned: boolean;
  readonly #open: () => Promise<OpenedLedger>;
  readonly #listeners = new Set<(server: string) => void>();
  #opening: Promise<OpenedLedger> | undefined;
  #ledger: DefinitionLedger | undefined;
  #stop: (() => void) | undefined;

  constructor(open: () => Promise<OpenedLedger>, { keepsUnpinned = false } = {}) {
    this.#open = open;
    this.keepsUnpinned = keepsUnpinned;
  }

  async compare(list: ReadList): Promise<DefinitionChange[]> {
    this.#opening ??= this.#begin();
    const { ledger } = await this.#opening;
    return ledger.compare(list);
  }

  async load(server: string): Promise<void> {
    this.#opening ??= this.#begin();
    const { ledger } = await this.#opening;
    await ledger.load?.(server);
  }

  standingOf(definition: NamedDefinition): Standing {
    return this.#ledger?.standingOf(definition) ?? "unknown";
  }

  onAccepted(listener: (server: string) => void): () => void {
    this.#listeners.add(listener);
    this.#follow();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#stop?.();
      this.#stop = undefined;
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop?.();
    const opened = await this.#opening?.catch(() => undefined);
    await opened?.[Symbol.asyncDispose]();
  }

  async #begin(): Promise<OpenedLedger> {
    try {
      const opened = await this.#open();
      this.#ledger = opened.ledger;
      this.#follow();
      return opened;
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  #follow(): void {
    if (this.#listeners.size === 0) return;
    this.#stop ??= this.#ledger?.onAccepted((server) => {
      for (const listener of this.#listeners) listener(server);
    });
  }
}
