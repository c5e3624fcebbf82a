import { readOwnerOnly, writeOwnerOnly } from "../../../files/owner-only-file.ts";
import { parseJson } from "../../../json/parse-json.ts";

const MAX_ENTRIES = 500;
/** A longer entry, such as a pasted document, is not kept. */
const MAX_ENTRY = 10_000;

/** What was typed into the chat before, also in other sessions; in a file that only its owner can read. */
export class InputHistory {
  readonly #path: string | undefined;
  readonly #platform: NodeJS.Platform;
  #entries: string[] = [];

  /** A history that cannot be read begins empty; it must not keep anybody from chatting. */
  static async load(path: string, platform: NodeJS.Platform): Promise<InputHistory> {
    const history = new InputHistory(path, platform);
    history.#entries = await history.#read();
    return history;
  }

  /** Without a path it is forgotten at the end. */
  constructor(path: string | undefined, platform: NodeJS.Platform) {
    this.#path = path;
    this.#platform = platform;
  }

  /** The oldest first. */
  get entries(): readonly string[] {
    return this.#entries;
  }

  /** Adds to the end. Other chats may have added in the meantime, so the file is read again. */
  async add(text: string): Promise<void> {
    if (text.trim() === "" || text.length > MAX_ENTRY || this.#entries.at(-1) === text) return;
    this.#entries = limited([...this.#entries, text]);
    if (this.#path === undefined) return;
    const kept = limited([...(await this.#read()), text]);
    await writeOwnerOnly(this.#path, kept.map((entry) => `${JSON.stringify(entry)}\n`).join("")).catch(() => {});
  }

  async #read(): Promise<string[]> {
    if (this.#path === undefined) return [];
    const data = await readOwnerOnly(this.#path, this.#platform).catch(() => undefined);
    const lines = data?.toString("utf8").split("\n") ?? [];
    return limited(lines.map((line) => parseJson(line)).filter((entry) => typeof entry === "string"));
  }
}

function limited(entries: string[]): string[] {
  return entries.slice(-MAX_ENTRIES);
}

/** Goes back and forth in the history, and returns to what was being typed. */
export class HistoryWalk {
  readonly #entries: readonly string[];
  #at: number;
  #draft = "";

  constructor(entries: readonly string[]) {
    this.#entries = entries;
    this.#at = entries.length;
  }

  older(current: string): string | undefined {
    if (this.#at === this.#entries.length) this.#draft = current;
    if (this.#at === 0) return undefined;
    this.#at -= 1;
    return this.#entries[this.#at];
  }

  newer(): string | undefined {
    if (this.#at >= this.#entries.length) return undefined;
    this.#at += 1;
    return this.#at === this.#entries.length ? this.#draft : this.#entries[this.#at];
  }
}
