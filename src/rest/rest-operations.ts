import { OPERATIONS } from "../operations/operations.ts";
import { getSession, SESSION, sessionView } from "../operations/session.ts";
import { HeadedAnswer, type RestOperation, type RestServices, type RestCall } from "./rest-operation.ts";
import { NexusError } from "../errors/nexus-error.ts";
import { record, text, type AnyForm } from "../format/form.ts";
import { isFromOwnPage } from "./access/own-origin.ts";
import { clearCookie, setCookie } from "./access/session-cookie.ts";
import type { Actor } from "../operations/actor.ts";

const streamEvents = defineRestOperation({
  id: "streamEvents",
  tag: "events",
  summary: "What changes, as server-sent events",
  description:
    "The event `ready` comes first; then `change` with `topic` (`state`, `tools`, `servers`, `keys`, `sets`, `definitions`, `apis`, `tenants`), `tenant`, and `server` and `state` where they apply. The details are in the resources. With `Last-Event-ID` the stream goes on where it ended, or begins again with `ready` where that is not known. A comment comes every 15 seconds. The stream ends with the key or session of its reader.",
  access: "operator",
  http: { method: "GET", path: "/events", status: 200, mediaType: "text/event-stream", fails: [429] },
  async handle({ events }, actor, _input, { session, headers }) {
    const last = headers["last-event-id"];
    const stream = await events.open(actor, session, typeof last === "string" ? last : undefined);
    if (stream) return stream;
    throw new NexusError("RATE_LIMITED", "There are too many event streams", {
      hint: "Close one of them first.",
      retryAfterMs: 5_000,
      mayHaveReached: false,
    });
  },
});

const signIn = defineRestOperation({
  id: "signIn",
  tag: "session",
  summary: "Sign in with a key: sets the cookie of a browser's session",
  description: "The cookie is HttpOnly and SameSite=Strict, and counts only for pages of the gateway itself.",
  access: "public",
  http: { method: "POST", path: "/session", status: 201, fails: [401, 403] },
  input: record({ key: text({ empty: true, most: 200 }).secret().says("An API key.") }).named("SignIn"),
  output: SESSION,
  async handle({ identification, sessions }, _actor, { key }, { headers }) {
    const isOfBrowser = headers.origin !== undefined || headers["sec-fetch-site"] !== undefined;
    if (isOfBrowser && !isFromOwnPage("POST", headers)) {
      throw new NexusError("FORBIDDEN", "Pages of other origins cannot sign in", { mayHaveReached: false });
    }
    const actor = await identification.byKey(`Bearer ${key}`);
    const { id, session } = sessions.open(actor.principal);
    return new HeadedAnswer(sessionView(actor, session), { "set-cookie": setCookie(headers, id) });
  },
});

const signOut = defineRestOperation({
  id: "signOut",
  tag: "session",
  summary: "End the session of the browser",
  access: "caller",
  http: { method: "DELETE", path: "/session", status: 204 },
  async handle({ sessions }, _actor, _input, { session, headers }) {
    sessions.end((each) => each === session);
    return new HeadedAnswer(undefined, { "set-cookie": clearCookie(headers) });
  },
});

/** All operations of the REST API, in the order of its reference. */
export const REST_OPERATIONS: readonly RestOperation[] = OPERATIONS.filter(({ isLocal }) => isLocal !== true)
  .flatMap((operation): RestOperation[] => (operation === getSession ? [getSession, signIn, signOut] : [operation]))
  .concat(streamEvents);

interface BrowserOperation<In> extends Omit<RestOperation, "handle" | "input"> {
  input?: AnyForm & { readonly type: In };
  handle(services: RestServices, actor: Actor, input: In, call: RestCall): Promise<unknown>;
}

/** Gives `handle` of an operation that is about HTTP itself the type of its input. */
function defineRestOperation<In>(operation: BrowserOperation<In>): RestOperation {
  return operation;
}
