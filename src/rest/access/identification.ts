import type { IncomingHttpHeaders } from "node:http";
import { createHash, timingSafeEqual } from "node:crypto";
import { NexusError } from "../../errors/nexus-error.ts";
import { ANYBODY, type Principal } from "../../server/core/principal.ts";
import type { KeyDoor } from "../../team/key-door.ts";
import { actorOf, MACHINE_OWNER, type Actor } from "../../operations/actor.ts";
import { isFromOwnPage, isSafe } from "./own-origin.ts";
import { sessionIdIn } from "./session-cookie.ts";
import type { Session, Sessions } from "./sessions.ts";

/** Who sent a request, and the session where it was sent by a browser. */
export interface Identified {
  actor: Actor;
  session: Session | undefined;
}

/**
 * Finds out who sent a request: by its key, or by the cookie of a session. A request has one way in: with a key that is
 * wrong, its cookie does not count.
 */
export class Identification {
  readonly #door: KeyDoor;
  readonly #sessions: Sessions;

  constructor(door: KeyDoor, sessions: Sessions) {
    this.#door = door;
    this.#sessions = sessions;
  }

  /** Throws AUTH_REQUIRED, FORBIDDEN or STORE_UNAVAILABLE. */
  async identify(method: string, headers: IncomingHttpHeaders): Promise<Identified> {
    if (headers.authorization !== undefined)
      return { actor: await this.byKey(headers.authorization), session: undefined };
    const id = sessionIdIn(headers);
    const session = id === undefined ? undefined : this.#sessions.find(id);
    if (!session) throw signInFirst();
    if (!isFromOwnPage(method, headers)) throw foreignPage();
    if (!isSafe(method) && !isCsrfTokenOf(session, csrfTokenIn(headers))) throw withoutToken();
    const actor = this.#actorOf(session.principal);
    if (actor) return { actor, session };
    this.#sessions.end((each) => each === session);
    throw signInFirst();
  }

  /** `authorization`: the value of the header. */
  async byKey(authorization: string): Promise<Actor> {
    const principal = await this.#door.authenticate({ authorization });
    const actor = principal === ANYBODY ? undefined : this.#actorOf(principal);
    if (!actor) throw signInFirst();
    return actor;
  }

  #actorOf(principal: Principal | undefined): Actor | undefined {
    if (!principal) return MACHINE_OWNER;
    const key = this.#door.findKey(principal);
    return key && actorOf(key, principal);
  }
}

function csrfTokenIn(headers: IncomingHttpHeaders): string | undefined {
  const given = headers["x-csrf-token"];
  return typeof given === "string" ? given : undefined;
}

function signInFirst(): NexusError {
  return new NexusError("AUTH_REQUIRED", "This needs an API key or a session of a browser", {
    hint: `Send a key as "Authorization: Bearer nxs_…", or open the link that "nexus serve" prints when it starts.`,
    mayHaveReached: false,
  });
}

function foreignPage(): NexusError {
  return new NexusError("FORBIDDEN", "The cookie of a session counts only for pages of this gateway itself", {
    hint: "Requests that change something need the header Origin with the gateway's own origin. Programs use a key.",
    mayHaveReached: false,
  });
}

function withoutToken(): NexusError {
  return new NexusError("FORBIDDEN", "The header X-CSRF-Token is missing or wrong", {
    hint: "GET /api/v1/session has the token of the session.",
    mayHaveReached: false,
  });
}

function isCsrfTokenOf({ csrfToken }: Session, given: string | undefined): boolean {
  const [one, other] = [csrfToken, given ?? ""].map((text) => createHash("sha256").update(text).digest()) as [
    Buffer,
    Buffer,
  ];
  return timingSafeEqual(one, other);
}
