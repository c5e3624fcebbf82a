import { boolean, choice, type Infer } from "../format/form.ts";
import { VERSION } from "../protocol/version.ts";
import { KEY_ROLES } from "../store/keep/api-keys.ts";
import type { Actor } from "./actor.ts";
import { defineOperation, type BrowserSession } from "./operation.ts";
import { answer, TEXT, TEXT_OR_NULL } from "./forms.ts";

export const SESSION = answer("Session", {
  tenant: TEXT,
  role: choice(KEY_ROLES),
  allTenants: boolean().says("Whether it manages all tenants."),
  keyId: TEXT_OR_NULL.says("The id of the key; null after the one-time link was used."),
  csrfToken: TEXT_OR_NULL.says("Sent as X-CSRF-Token with requests that change something; null with a key."),
  expires: TEXT_OR_NULL.says("When the session of the browser ends at the latest; null with a key."),
  version: TEXT.says("The version of the gateway."),
});

export const getSession = defineOperation({
  id: "getSession",
  tag: "session",
  summary: "Who the caller is, and the CSRF token of a browser's session",
  access: "caller",
  http: { method: "GET", path: "/session", status: 200 },
  command: "keys whoami",
  output: SESSION,
  handle: async (_services, actor, _input, { session }) => sessionView(actor, session),
});

export function sessionView(
  { principal, role, allTenants, keyId }: Actor,
  session: BrowserSession | undefined,
): Infer<typeof SESSION> {
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
