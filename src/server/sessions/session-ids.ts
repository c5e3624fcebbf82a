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
import { EndedSessions } from "./ended-sessions.ts";

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

export interface SessionIdsOptions {
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
