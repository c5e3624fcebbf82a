import { promises as fs } from "node:fs";
import { withLock } from "../../auth/file-lock.ts";
import { readOwnerOnly, writeOwnerOnly } from "../../auth/owner-only-file.ts";
import { isRecord } from "../../protocol/json-rpc.ts";

/** A session whose id must not be taken up any more; without an id, all of the principal that were opened until then. */
export interface EndedSession {
  /** A digest: the file tells nothing of who calls. */
  principal: string;
  /** A digest of the id. */
  id?: string;
  openedAt: number;
  /** When the id expires, and need not be remembered any more. */
  until: number;
}

/** What is remembered of one principal. */
interface Ended {
  ids: Map<string, EndedSession>;
  /** Everything that was opened until then is over. */
  allUntil: number;
  /** How long that has to be remembered. */
  until: number;
}

/** Of one principal. Beyond it the oldest are remembered together, by when they were opened. */
const MAX_IDS = 10_000;
/** Lines that no longer count are left in the file until there are so many. */
const MANY_LINES = 1000;

/** Sessions that were ended by their clients, or by revocation: they stay so for as long as their ids would be good. */
export class EndedSessions {
  readonly #file: string | undefined;
  readonly #byPrincipal = new Map<string, Ended>();
  #unwritten: EndedSession[] = [];
  #writing: Promise<void> = Promise.resolve();

  /** Remembers for the life of this process, or of the file. */
  static async open(file?: string, platform: NodeJS.Platform = process.platform): Promise<EndedSessions> {
    const sessions = new EndedSessions(file);
    if (file !== undefined) await sessions.#load(file, platform);
    return sessions;
  }

  constructor(file?: string) {
    this.#file = file;
  }

  has({ principal, id, openedAt }: Pick<EndedSession, "principal" | "id" | "openedAt">): boolean {
    const ended = this.#byPrincipal.get(principal);
    return ended !== undefined && (openedAt <= ended.allUntil || (id !== undefined && ended.ids.has(id)));
  }

  /** It counts at once; resolves when it will also after a restart. */
  add(session: EndedSession): Promise<void> {
    this.#remember(session);
    if (this.#file === undefined) return Promise.resolve();
    this.#unwritten.push(session);
    const written = this.#writing.then(() => this.#write());
    this.#writing = written.catch(() => {});
    return written;
  }

  /** Resolves when everything is written, as far as it can be. */
  close(): Promise<void> {
    return this.#writing;
  }

  #remember(session: EndedSession): void {
    const { principal, id, openedAt, until } = session;
    if (until < Date.now()) return;
    let ended = this.#byPrincipal.get(principal);
    if (!ended) this.#byPrincipal.set(principal, (ended = { ids: new Map(), allUntil: -Infinity, until: -Infinity }));
    if (id !== undefined) ended.ids.set(id, session);
    else {
      ended.allUntil = Math.max(ended.allUntil, openedAt);
      ended.until = Math.max(ended.until, until);
    }
    if (ended.ids.size > MAX_IDS) this.#shorten(ended);
  }

  /** A client that opens and ends sessions without pause must not fill our memory: what is forgotten stays refused. */
  #shorten(ended: Ended): void {
    const oldestFirst = [...ended.ids.values()].sort((a, b) => a.openedAt - b.openedAt);
    for (const { id = "", openedAt, until } of oldestFirst.slice(0, MAX_IDS / 2)) {
      ended.ids.delete(id);
      ended.allUntil = Math.max(ended.allUntil, openedAt);
      ended.until = Math.max(ended.until, until);
    }
  }

  /** Everything that waits, at once. */
  async #write(): Promise<void> {
    const file = this.#file;
    const lines = this.#unwritten.map(lineOf).join("");
    this.#unwritten = [];
    if (file === undefined || lines === "") return;
    // The first newline ends a line that a process did not finish.
    await withLock(file, () => fs.appendFile(file, `\n${lines}`, { mode: 0o600, flush: true }));
  }

  async #load(file: string, platform: NodeJS.Platform): Promise<void> {
    const lines = await this.#read(file, platform);
    if (lines <= this.#lines().length + MANY_LINES) return;
    await withLock(file, async ({ check }) => {
      // Others may have written since.
      await this.#read(file, platform);
      await writeOwnerOnly(file, this.#lines().join(""), check);
    });
  }

  /** Returns how many there are, those that no longer count included. */
  async #read(file: string, platform: NodeJS.Platform): Promise<number> {
    const text = (await readOwnerOnly(file, platform))?.toString("utf8") ?? "";
    const lines = text.split("\n").filter((line) => line !== "");
    for (const line of lines) {
      const session = sessionIn(line);
      if (session) this.#remember(session);
    }
    return lines.length;
  }

  /** What has to be remembered. */
  #lines(): string[] {
    return [...this.#byPrincipal].flatMap(([principal, { ids, allUntil: openedAt, until }]) => {
      const all = openedAt === -Infinity ? [] : [{ principal, openedAt, until }];
      return [...all, ...ids.values()].map(lineOf);
    });
  }
}

function lineOf(session: EndedSession): string {
  return `${JSON.stringify(session)}\n`;
}

/** Undefined for a line that was not finished. */
function sessionIn(line: string): EndedSession | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { principal, id, openedAt, until } = value;
  if (typeof principal !== "string" || typeof openedAt !== "number" || typeof until !== "number") return undefined;
  return { principal, ...(typeof id === "string" ? { id } : {}), openedAt, until };
}
