import * as z from "zod";
import { checkSecretName } from "../../auth/secret-name.ts";
import type { SecretStore } from "../../auth/secrets.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { parseWebOrigin } from "../../net/web-origin.ts";
import { listOf, PAGE_QUERY, pageOf } from "../http/page.ts";
import { defineOperation, type ApiContext } from "./api-context.ts";

const Secret = z.object({
  name: z.string(),
  tenant: z.string(),
  origins: z
    .array(z.string())
    .describe("Where it may be sent. None: it was not sent yet, and the first address decides."),
});

export const SECRET_SCHEMAS = {
  Secret,
  SecretList: listOf(Secret).extend({
    unreadable: z.int().describe("The number of further secrets that cannot be decrypted. Set them again."),
  }),
  SecretValue: z.strictObject({
    value: z.string().min(1).max(500_000).describe("No answer contains it."),
    origins: z
      .array(
        z.string().refine((text) => parseWebOrigin(text) === text, "It is not an origin, such as https://api.example"),
      )
      .min(1)
      .max(50)
      .optional()
      .describe("Where it may be sent, such as `https://api.example`. A secret that exists keeps its origins."),
  }),
};

const TAG = "secrets";
const PATH = "/tenants/{tenant}/secrets/{name}";

const listSecrets = defineOperation({
  id: "listSecrets",
  method: "GET",
  path: "/tenants/{tenant}/secrets",
  tag: TAG,
  summary: "The names of the secrets of a tenant, and where they may be sent; never a value",
  access: "admin",
  query: z.strictObject(PAGE_QUERY),
  answer: { status: 200, schema: SECRET_SCHEMAS.SecretList },
  async handle({ api, params: { tenant = "" }, query }) {
    const { secrets, unreadable } = await (await secretsOf(api, tenant)).list();
    const page = pageOf(
      secrets,
      query,
      ({ name }) => name,
      (secret) => secretView(tenant, secret),
    );
    return { ...page, unreadable };
  },
});

const setSecret = defineOperation({
  id: "setSecret",
  method: "PUT",
  path: PATH,
  tag: TAG,
  summary: "Store a secret, or replace its value",
  description:
    "Entries of servers use it as `${secret:NAME}`. Origins of a stored secret are added on the machine itself only, because who adds one could read the value there; removing the secret and setting it again also changes them.",
  access: "admin",
  body: SECRET_SCHEMAS.SecretValue,
  answer: { status: 200, schema: Secret },
  async handle({ api, params: { tenant = "", name = "" }, body: { value, origins } }) {
    checkSecretName(name);
    const stored = await (await secretsOf(api, tenant)).set(name, value, origins);
    return secretView(tenant, { name, origins: stored.origins });
  },
});

const removeSecret = defineOperation({
  id: "removeSecret",
  method: "DELETE",
  path: PATH,
  tag: TAG,
  summary: "Remove a secret; entries that use it can no longer start",
  access: "admin",
  answer: { status: 204 },
  async handle({ api, params: { tenant = "", name = "" } }) {
    if (await (await secretsOf(api, tenant)).remove(name)) return;
    throw new NexusError("NAME_UNKNOWN", `There is no secret "${name}"`, { mayHaveReached: false });
  },
});

export const SECRET_OPERATIONS = [listSecrets, setSecret, removeSecret];

/** Throws NAME_UNKNOWN. */
async function secretsOf({ store, secretsOf: find }: ApiContext, tenant: string): Promise<SecretStore> {
  await store.tenants.require(tenant);
  return find(tenant);
}

function secretView(tenant: string, { name, origins = [] }: { name: string; origins?: readonly string[] | undefined }) {
  return { name, tenant, origins };
}
