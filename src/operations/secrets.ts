import { checkSecretName } from "../auth/secret-name.ts";
import type { SecretStore } from "../auth/secrets.ts";
import { NexusError } from "../errors/nexus-error.ts";
import { list, record, text, whole, type Infer } from "../format/form.ts";
import { nearestName } from "../text/nearest-name.ts";
import { parseWebOrigin } from "../net/web-origin.ts";
import { answer, listOf, PAGE_INPUT, pageOf, TEXT } from "./forms.ts";
import { defineOperation } from "./operation.ts";

const SECRET = answer("Secret", {
  name: TEXT,
  tenant: TEXT,
  origins: list(TEXT).says("Where it may be sent. None: it was not sent yet, and the first address decides."),
});

type SecretView = Infer<typeof SECRET>;

const ORIGIN = TEXT.check((origin, part) => {
  if (parseWebOrigin(origin) !== origin) part.error("is not an origin, such as https://api.example");
});

const TAG = "secrets";
const PATH = "/tenants/{tenant}/secrets/{name}";

const listSecrets = defineOperation({
  id: "listSecrets",
  tag: TAG,
  summary: "The names of the secrets of a tenant, and where they may be sent; never a value",
  access: "admin",
  http: { method: "GET", path: "/tenants/{tenant}/secrets", status: 200 },
  command: "secrets list",
  input: PAGE_INPUT,
  output: listOf("SecretList", SECRET, {
    unreadable: whole().says("The number of further secrets that cannot be decrypted. Set them again."),
  }),
  async handle(services, _actor, { tenant, ...asked }) {
    const { secrets, unreadable } = await (await services.secretsOf(tenant)).list();
    const page = pageOf(secrets, asked, {
      keyOf: ({ name }) => name,
      show: (secret) => secretView(tenant, secret),
    });
    return { ...page, unreadable };
  },
});

const setSecret = defineOperation({
  id: "setSecret",
  tag: TAG,
  summary: "Store a secret, or replace its value",
  description:
    "Entries of servers use it as `${secret:NAME}`. Origins of a stored secret are added on the machine itself only, because who adds one could read the value there; removing the secret and setting it again also changes them.",
  access: "admin",
  http: { method: "PUT", path: PATH, status: 200 },
  command: "secrets set {name}",
  input: record({
    value: text({ empty: true, least: 1, most: 500_000 }).secret().says("No answer contains it."),
    origins: list(ORIGIN, { least: 1, mostOverNetwork: 50 })
      .says("Where it may be sent, such as `https://api.example`. A secret that exists keeps its origins.")
      .optional(),
  }).named("SecretValue"),
  output: SECRET,
  async handle(services, _actor, { tenant, name, value, origins }) {
    checkSecretName(name);
    const stored = await (await services.secretsOf(tenant)).set(name, value, origins);
    return secretView(tenant, { name, origins: stored.origins });
  },
});

const removeSecret = defineOperation({
  id: "removeSecret",
  tag: TAG,
  summary: "Remove a secret; entries that use it can no longer start",
  access: "admin",
  http: { method: "DELETE", path: PATH, status: 204 },
  command: "secrets remove {name}",
  async handle(services, _actor, { tenant, name }) {
    const secrets = await services.secretsOf(tenant);
    if (!(await secrets.remove(name))) throw await unknownSecret(name, secrets);
  },
});

const allowSecret = defineOperation({
  id: "allowSecret",
  tag: TAG,
  summary: "Allow one more origin for a secret",
  access: "admin",
  http: { method: "POST", path: `${PATH}/origins`, status: 200 },
  command: "secrets allow {name} {origin}",
  isLocal: true,
  input: record({ origin: ORIGIN }),
  output: SECRET,
  async handle(services, _actor, { tenant, name, origin }) {
    const secrets = await services.secretsOf(tenant);
    const allowed = await secrets.allow(name, origin);
    if (!allowed) throw await unknownSecret(name, secrets);
    return secretView(tenant, { name, origins: allowed.origins });
  },
});

/** All of them, in the order of the reference. */
export const SECRETS = { listSecrets, setSecret, removeSecret, allowSecret };

async function unknownSecret(name: string, store: Pick<SecretStore, "list">): Promise<NexusError> {
  // An unreadable secret must not hide that this one does not exist.
  const { secrets } = await store.list().catch(() => ({ secrets: [] }));
  const names = secrets.map((secret) => secret.name);
  const near = nearestName(name, names);
  const known =
    names.length === 0 ? "No secrets are stored. Store one: {setSecret}" : `"{listSecrets}" lists all secrets.`;
  return new NexusError("NAME_UNKNOWN", `There is no secret "${name}"`, {
    hint: near === undefined ? known : `Did you mean "${near}"? ${known}`,
    mayHaveReached: false,
  });
}

function secretView(
  tenant: string,
  { name, origins = [] }: { name: string; origins?: readonly string[] | undefined },
): SecretView {
  return { name, tenant, origins: [...origins] };
}
