import * as z from "zod";
import { NexusError } from "../../errors/nexus-error.ts";
import { KEY_ROLES } from "../../store/keep/api-keys.ts";
import { VERSION } from "../../protocol/version.ts";
import type { Actor } from "../access/actor.ts";
import { isFromOwnPage } from "../access/own-origin.ts";
import { clearCookie, setCookie } from "../access/session-cookie.ts";
import type { Session } from "../access/sessions.ts";
import { HeadedAnswer } from "../http/operation.ts";
import { defineOperation } from "./api-context.ts";

export const SESSION_SCHEMAS = {
  Session: z.object({
    tenant: z.string(),
    role: z.enum(KEY_ROLES),
    allTenants: z.boolean().describe("Whether it manages all tenants."),
    keyId: z.string().nullable().describe("The id of the key; null after the one-time link was used."),
    csrfToken: z
      .string()
      .nullable()
      .describe("Sent as X-CSRF-Token with requests that change something; null with a key."),
    expires: z.string().nullable().describe("When the session of the browser ends at the latest; null with a key."),
    version: z.string().describe("The version of the gateway."),
  }),
  SignIn: z.strictObject({ key: z.string().max(200).describe("An API key.") }),
};

const getSession = defineOperation({
  id: "getSession",
  method: "GET",
  path: "/session",
  tag: "session",
  summary: "Who the caller is, and the CSRF token of a browser's session",
  access: "caller",
  answer: { status: 200, schema: SESSION_SCHEMAS.Session },
  handle: async ({ actor, session }) => sessionView(actor, session),
});

const signIn = defineOperation({
  id: "signIn",
  method: "POST",
  path: "/session",
  tag: "session",
  summary: "Sign in with a key: sets the cookie of a browser's session",
  description: "The cookie is HttpOnly and SameSite=Strict, and counts only for pages of the gateway itself.",
  access: "public",
  body: SESSION_SCHEMAS.SignIn,
  answer: { status: 201, schema: SESSION_SCHEMAS.Session },
  fails: [401, 403],
  async handle({ api, body, headers }) {
    const isOfBrowser = headers.origin !== undefined || headers["sec-fetch-site"] !== undefined;
    if (isOfBrowser && !isFromOwnPage("POST", headers)) {
      throw new NexusError("FORBIDDEN", "Pages of other origins cannot sign in", { mayHaveReached: false });
    }
    const actor = await api.identification.byKey(`Bearer ${body.key}`);
    const { id, session } = api.sessions.open(actor.principal);
    return new HeadedAnswer(sessionView(actor, session), { "set-cookie": setCookie(headers, id) });
  },
});

const signOut = defineOperation({
  id: "signOut",
  method: "DELETE",
  path: "/session",
  tag: "session",
  summary: "End the session of the browser",
  access: "caller",
  answer: { status: 204 },
  async handle({ api, session, headers }) {
    api.sessions.end((each) => each === session);
    return new HeadedAnswer(undefined, { "set-cookie": clearCookie(headers) });
  },
});

export const SESSION_OPERATIONS = [getSession, signIn, signOut];

function sessionView({ principal, role, allTenants, keyId }: Actor, session: Session | undefined) {
  return {
    tenant: principal.tenant,
    role,
    allTenants,
    keyId: keyId ?? null,
    csrfToken: session?.csrfToken ?? null,
    expires: session ? new Date(session.until).toISOString() : null,
    version: VERSION,
  };
}
