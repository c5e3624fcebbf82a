import { NexusError } from "../errors/nexus-error.ts";
import { record, text } from "../format/form.ts";
import { SESSION, sessionView } from "../operations/session.ts";
import { isFromOwnPage } from "./access/own-origin.ts";
import { clearCookie, setCookie } from "./access/session-cookie.ts";
import { defineRestOperation, HeadedAnswer } from "./rest-operation.ts";

export const signIn = defineRestOperation({
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

export const signOut = defineRestOperation({
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
