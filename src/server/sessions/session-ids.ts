import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { loadStateKey } from "../../files/state-key.ts";
import { type Logger, SILENT } from "../../text/logger.ts";
import { messageOf } from "../../errors/nexus-error.ts";
import { sha256 } from "../../text/digest.ts";
import { isRecord } from "../../json/is-record.ts";
import type { ClientCapabilities } from "../../protocol/mcp.ts";
import { isLegacyRevision, type LegacyRevision } from "../../protocol/revisions.ts";
import { Seal } from "../core/seal.ts";
import type { ClientName, Core } from "../core/core.ts";
import { clientNameIn } from "../core/request-meta.ts";
import { type Principal, principalKey } from "../core/principal.ts";
import { promises as fs } from "node:fs";
import { Turns } from "../../async/turns.ts";
import { withLock, type HeldLock } from "../../files/file-lock.ts";
import { readOwnerOnly, writeOwnerOnly } from "../../files/owner-only-file.ts";
import { parseJson } from "../../json/parse-json.ts";

/** What `initialize` settled, and what a session can be opened with again. */
export interface Agreed {
  version: LegacyRevision;
  capabilities: ClientCapabilities;
  /** As its client called itself. */
  client?: ClientName | undefined;
}

/** To whom and what an id is bound. */
export interface BoundTo {
  /** Ids of one transport are none of the other. */
  transport: "http" | "sse";
  core: Pick<Core, "name">;
  principal: Principal;
}

interface SessionIdsOptions {
  /** How long an id can be taken up. */
  lifeMs: number;
  /** Where the key and the ended sessions are kept; without it, in memory. */
  stateFolder?: string | undefined;
  logger?: Logger | undefined;
}

/** Ids travel in headers, for which clients and proxies have room for some thousands of characters. */
const MAX_SEALED_LENGTH = 2048;

/**
 * The ids of sessions, which say by themselves what was agreed to: where a session is no longer known, because the server
 * was started again or the session was not used for long, one like it is opened for whoever comes with its id.
 */
export class SessionIds {
  readonly #seal: Seal;
  readonly #ended: EndedSessions;
  readonly #lifeMs: number;

  static async open({ lifeMs, stateFolder, logger = SILENT }: SessionIdsOptions): Promise<SessionIds> {
    if (stateFolder === undefined) return new SessionIds(lifeMs);
    const { platform } = process;
    try {
      const ended = await EndedSessions.open(join(stateFolder, "ended-sessions.jsonl"), platform);
      const key = await loadStateKey(stateFolder, platform, "gateway sessions");
      return new SessionIds(lifeMs, new Seal(key), ended);
    } catch (error) {
      logger.warn(`sessions of older clients will not survive a restart of this server: ${messageOf(error)}`);
      return new SessionIds(lifeMs);
    }
  }

  constructor(lifeMs: number, seal = new Seal(), ended = new EndedSessions()) {
    this.#seal = seal;
    this.#ended = ended;
    this.#lifeMs = lifeMs;
  }

  seal({ version, capabilities, client }: Agreed, to: BoundTo): string {
    const openedAt = Date.now();
    // No process owns a session yet: any that has the key takes it up.
    const sealed = { version, capabilities, client, openedAt, until: openedAt + this.#lifeMs, owner: "" };
    const id = this.#seal.seal(sealed, bindingOf(to));
    // A client that declares very much has an id that cannot be taken up.
    return id.length <= MAX_SEALED_LENGTH ? id : randomBytes(24).toString("base64url");
  }

  /** Undefined for an id that was not given out here, or to somebody else, has expired, or whose session was ended. */
  open(id: string, to: BoundTo): Agreed | undefined {
    const opened = this.#read(id, to);
    return opened && !this.#ended.has(endedSession(id, to, opened)) ? opened : undefined;
  }

  /** The session is over for good. Resolves when that is remembered. */
  async end(id: string, to: BoundTo): Promise<void> {
    const opened = this.#read(id, to);
    if (opened) await this.#ended.add(endedSession(id, to, opened));
  }

  /** Every session of the principal is over for good. */
  async endAll(of: Principal): Promise<void> {
    const now = Date.now();
    await this.#ended.add({ principal: sha256(principalKey(of)), openedAt: now, until: now + this.#lifeMs });
  }

  close(): Promise<void> {
    return this.#ended.close();
  }

  #read(id: string, to: BoundTo): OpenedId | undefined {
    const value = id.length <= MAX_SEALED_LENGTH ? this.#seal.open(id, bindingOf(to)) : undefined;
    if (!isRecord(value)) return undefined;
    const { version, capabilities, client, openedAt, until: sealed } = value;
    if (!isLegacyRevision(version) || !isRecord(capabilities)) return undefined;
    if (typeof openedAt !== "number" || typeof sealed !== "number") return undefined;
    // Where the life of ids is shorter now, that concerns those of before too: revocation is remembered no longer than that.
    const until = Math.min(sealed, openedAt + this.#lifeMs);
    return until > Date.now() ? { version, capabilities, client: clientNameIn(client), openedAt, until } : undefined;
  }
}

interface OpenedId extends Agreed {
  openedAt: number;
  until: number;
}

function endedSession(id: string, { principal }: BoundTo, { openedAt, until }: OpenedId) {
  return { principal: sha256(principalKey(principal)), id: sha256(id).slice(0, 32), openedAt, until };
}

function bindingOf({ transport, principal, core }: BoundTo): string {
  return JSON.stringify(["session", transport, principalKey(principal), core.name]);
}

/** A session whose id must not be taken up any more; without an id, all of the principal that were opened until then. */
interface EndedSession {
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

/**
 * Of one principal. Beyond it those that ended first are forgotten: whoever comes with such an id, as the same principal, gets a
 * new session, as with `initialize`. Without authentication all clients are one principal: nobody may end the others' sessions.
 */
const MAX_IDS = 10_000;
/** Of all principals; then it concerns the one with the most. As many lines are far from what is read of a file. */
const MAX_ALL_IDS = 100_000;
/** Lines that no longer count are left in the file until there are so many. */
const MANY_LINES = 1000;

/** Sessions that were ended by their clients, or by revocation: they stay so for as long as their ids would be good, within limits. */
export class EndedSessions {
  readonly #file: string | undefined;
  readonly #platform: NodeJS.Platform;
  readonly #byPrincipal = new Map<string, Ended>();
  /** Of all principals. */
  #ids = 0;
  /** In the file, as far as this process knows. */
  #lines = 0;
  #unwritten: EndedSession[] = [];
  readonly #writing = new Turns();

  /** Remembers for the life of this process, or of the file. */
  static async open(file?: string, platform: NodeJS.Platform = process.platform): Promise<EndedSessions> {
    const sessions = new EndedSessions(file, platform);
    if (file !== undefined) {
      sessions.#lines = await sessions.#read(file);
      if (sessions.#isLong) await withLock(file, (held) => sessions.#rewrite(file, held));
    }
    return sessions;
  }

  constructor(file?: string, platform: NodeJS.Platform = process.platform) {
    this.#file = file;
    this.#platform = platform;
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
    return this.#writing.run(() => this.#write());
  }

  /** Resolves when everything is written, as far as it can be. */
  close(): Promise<void> {
    return this.#writing.ended();
  }

  #remember(session: EndedSession): void {
    const { principal, id, openedAt, until } = session;
    if (until < Date.now()) return;
    let ended = this.#byPrincipal.get(principal);
    if (!ended) this.#byPrincipal.set(principal, (ended = { ids: new Map(), allUntil: -Infinity, until: -Infinity }));
    if (id === undefined || openedAt <= ended.allUntil) return includeAll(ended, session);
    if (!ended.ids.has(id)) this.#ids++;
    // As the newest: its line may be read again.
    ended.ids.delete(id);
    ended.ids.set(id, session);
    if (ended.ids.size > MAX_IDS) this.#shorten(ended);
    else if (this.#ids > MAX_ALL_IDS) this.#shorten(this.#longest());
  }

  /** A client that opens and ends sessions without pause must not fill our memory. */
  #shorten(ended: Ended): void {
    for (const session of [...ended.ids.values()].slice(0, Math.ceil(ended.ids.size / 10)))
      this.#forget(ended, session);
  }

  #longest(): Ended {
    return [...this.#byPrincipal.values()].reduce((a, b) => (b.ids.size > a.ids.size ? b : a));
  }

  #forget({ ids }: Ended, { id = "" }: EndedSession): void {
    if (ids.delete(id)) this.#ids--;
  }

  #forgetExpired(): void {
    const now = Date.now();
    for (const [principal, ended] of this.#byPrincipal) {
      for (const session of ended.ids.values()) if (session.until < now) this.#forget(ended, session);
      if (ended.ids.size === 0 && ended.until < now) this.#byPrincipal.delete(principal);
    }
  }

  /** Everything that waits, at once. */
  async #write(): Promise<void> {
    const file = this.#file;
    const lines = this.#unwritten.map(lineOf);
    this.#unwritten = [];
    if (file === undefined || lines.length === 0) return;
    this.#lines += lines.length;
    await withLock(file, async (held) => {
      // The first newline ends a line that a process did not finish.
      await fs.appendFile(file, `\n${lines.join("")}`, { mode: 0o600, flush: true });
      if (this.#isLong) await this.#rewrite(file, held);
    });
  }

  /** Whether most of the file no longer counts. */
  get #isLong(): boolean {
    return this.#lines > 2 * (this.#ids + this.#byPrincipal.size) + MANY_LINES;
  }

  /** Leaves out what no longer counts. Others may have written meanwhile. */
  async #rewrite(file: string, { check }: HeldLock): Promise<void> {
    await this.#read(file);
    this.#forgetExpired();
    const lines = this.#toLines();
    await writeOwnerOnly(file, lines.join(""), check);
    this.#lines = lines.length;
  }

  /** Returns how many lines there are, those that no longer count included. */
  async #read(file: string): Promise<number> {
    const text = (await readOwnerOnly(file, this.#platform))?.toString("utf8") ?? "";
    const lines = text.split("\n").filter((line) => line !== "");
    for (const line of lines) {
      const session = sessionIn(line);
      if (session) this.#remember(session);
    }
    return lines.length;
  }

  /** What has to be remembered. */
  #toLines(): string[] {
    return [...this.#byPrincipal].flatMap(([principal, { ids, allUntil: openedAt, until }]) => {
      const all = openedAt === -Infinity ? [] : [{ principal, openedAt, until }];
      return [...all, ...ids.values()].map(lineOf);
    });
  }
}

/** Everything of the principal that was opened until then is over. */
function includeAll(ended: Ended, { openedAt, until }: EndedSession): void {
  ended.allUntil = Math.max(ended.allUntil, openedAt);
  ended.until = Math.max(ended.until, until);
}

function lineOf(session: EndedSession): string {
  return `${JSON.stringify(session)}\n`;
}

/** Undefined for a line that was not finished. */
function sessionIn(line: string): EndedSession | undefined {
  const value = parseJson(line);
  if (!isRecord(value)) return undefined;
  const { principal, id, openedAt, until } = value;
  if (typeof principal !== "string" || typeof openedAt !== "number" || typeof until !== "number") return undefined;
  return { principal, ...(typeof id === "string" ? { id } : {}), openedAt, until };
}
