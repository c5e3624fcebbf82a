import {
  type Declared,
  type Given,
  type Need,
  boolean,
  choice,
  custom,
  kinds,
  list,
  map,
  record,
  text,
  whole,
  type Form,
  type Infer,
} from "../format/form.ts";
import { size, time } from "../format/quantities.ts";
import { isRecord } from "../json/is-record.ts";
import type { Root } from "../protocol/mcp.ts";
import { maskWords } from "../masking/mask-words.ts";
import { SERVER_ID } from "../text/server-id.ts";
import { splitCommandLine } from "../text/shell-words.ts";

const QUOTES = "Put it in quotes.";
const NO_QUOTES = "Write true or false, without quotes.";

const GRANTS = ["authorization_code", "device_code", "client_credentials", "jwt_bearer", "enterprise"] as const;
/** How a program obtains a token. `authorization_code` and `device_code` need a person. */
export type OAuthGrant = (typeof GRANTS)[number];

/** Names of grants in the standards. */
const STANDARD_GRANTS: Readonly<Record<string, OAuthGrant>> = {
  "urn:ietf:params:oauth:grant-type:device_code": "device_code",
  "urn:ietf:params:oauth:grant-type:jwt-bearer": "jwt_bearer",
};

/** Whether a person has to log in for a token. */
export function needsPerson(grant: OAuthGrant = "authorization_code"): boolean {
  return grant === "authorization_code" || grant === "device_code";
}

const filled = () => text().advice((value) => (value === "" ? "Write a value, or delete the key." : QUOTES));
/** The path of a file of this machine. */
const file = () => filled().local();
/** Shown to nobody. */
const credential = () => filled().secret();

const PROVIDER_EXAMPLE = `Write { "issuer": "https://…", "clientId": "…", "idTokenFile": "…" }.`;

/** The identity provider of a company, which issues tokens for other authorization servers. */
const IDENTITY_PROVIDER = record(
  {
    issuer: filled().says("The address of the identity provider."),
    tokenEndpoint: filled().alias("token_endpoint").says("Default: as its metadata say.").optional(),
    clientId: filled().alias("client_id", "CLIENT_ID"),
    clientSecret: credential().alias("client_secret", "CLIENT_SECRET").optional(),
    idToken: credential().alias("id_token").optional(),
    idTokenFile: file().alias("id_token_file").says("A file with the ID token, read whenever it is needed.").optional(),
  },
  {
    needs: [
      { count: "some", of: ["idToken", "idTokenFile"], message: `has neither "idToken" nor "idTokenFile"` },
      notBoth("idToken", "idTokenFile"),
    ],
  },
)
  .advice(PROVIDER_EXAMPLE)
  .named("EntryIdentityProvider");

/** Members that other programs write for what Nexus finds out by itself, or does not need. */
export const OAUTH_WITHOUT_EFFECT = [
  "authorizationUrl",
  "tokenUrl",
  "registrationUrl",
  "tokenParamName",
  "audiences",
  "authServerMetadataUrl",
] as const;

const GRANT = custom<OAuthGrant>({
  read(part) {
    const value = part.value();
    const standard = typeof value === "string" && Object.hasOwn(STANDARD_GRANTS, value) && STANDARD_GRANTS[value];
    return standard || part.choice(GRANTS);
  },
  fallback: "authorization_code",
  typeName: "OAuthGrant",
  schema: { enum: [...GRANTS, ...Object.keys(STANDARD_GRANTS)] },
});

/** How to obtain a token. */
const OAUTH = record(
  {
    enabled: boolean().advice(NO_QUOTES).says("False: no authorization.").optional(),
    grant: GRANT.alias("grant_type", "grantType")
      .says("How the token is obtained. Default: a person logs in.")
      .optional(),
    clientId: filled().alias("client_id", "CLIENT_ID").optional(),
    clientSecret: credential().alias("client_secret", "CLIENT_SECRET").optional(),
    privateKey: credential().alias("private_key").says("The key that proves who the client is (PEM).").optional(),
    privateKeyFile: file().alias("private_key_file").says("A file with the private key (PEM).").optional(),
    signingAlgorithm: filled().alias("signing_algorithm").optional(),
    keyId: filled().alias("key_id").optional(),
    issuer: filled().says("The authorization server. Default: the one that the server names.").optional(),
    clientMetadataUrl: filled().alias("client_metadata_url").optional(),
    clientName: filled().alias("client_name").optional(),
    scopes: kinds({ list: list(text({ pattern: /^\S+$/, not: "has spaces" })), text: text() })
      .alias("scope")
      .advice(`Write ["read", "write"] or "read write".`)
      .optional(),
    redirectUrl: filled().alias("redirectUri", "redirect_uri", "redirect_url").optional(),
    callbackPort: port().alias("callback_port").optional(),
    assertion: credential().optional(),
    assertionFile: file()
      .alias("assertion_file")
      .says("A file with the assertion, read whenever one is needed.")
      .optional(),
    identityProvider: IDENTITY_PROVIDER.alias("identity_provider").optional(),
    dpop: boolean().advice(NO_QUOTES).says("Tokens are bound to a key (DPoP).").optional(),
  },
  {
    ignored: OAUTH_WITHOUT_EFFECT,
    needs: [notBoth("privateKey", "privateKeyFile"), notBoth("assertion", "assertionFile")],
  },
).named("OAuthMembers");

const TYPES = ["stdio", "http", "sse"] as const;
const TYPE = choice(TYPES);

const LIST_EXAMPLES = {
  command: ["node", "server.js"],
  args: ["--port", "8080"],
  env_passthrough: ["HTTPS_PROXY"],
  ca: ["company-root.pem"],
} as const;

/** A list of texts. The advice is the list that a wrong value was probably meant to be. */
function words(key: keyof typeof LIST_EXAMPLES): Form<string[]> {
  const written = (value: unknown) => JSON.stringify(maskWords(asWords(value) ?? LIST_EXAMPLES[key]));
  const member = (value: unknown) => `"${key}": ${written(value)}`.replaceAll('","', '", "');
  return list(text({ empty: true }), {}).advice((value) =>
    Array.isArray(value) ? `Put every item in quotes: ${member(value)}.` : `Write it as a list: ${member(value)}.`,
  );
}

function asWords(value: unknown): string[] | undefined {
  if (typeof value === "string") return splitCommandLine(value);
  const items: unknown[] = Array.isArray(value) ? value : [value];
  return items.every((item) => typeof item !== "object") ? items.map(String) : undefined;
}

/** An object of texts. Its values are often secrets, so they are not repeated. */
function texts(example: string, value: Form<string> = text({ empty: true })): Form<Record<string, string>> {
  const advice = (given: unknown) =>
    typeof given === "object" ? "Write a text in quotes, or remove it." : "Put its value in quotes.";
  return map(value.advice(advice)).advice(`Write it as an object: ${example}.`);
}

const SECRET_TEXT = text({ empty: true }).secret();

function port(): Form<number | string> {
  return custom<number | string>({
    read(part) {
      const value = part.value();
      // The value of a variable is text.
      const isNumber = typeof value === "number" || (typeof value === "string" && /^\d+$/.test(value));
      if (isNumber && Number.isInteger(Number(value)) && Number(value) > 0 && Number(value) < 65_536) return value;
      part.error("is not a port", "Write a number from 1 to 65535.");
      return undefined;
    },
    fallback: 1,
    typeName: "number | string",
    schema: { type: "integer", minimum: 1, maximum: 65_535 },
  });
}

/** True or false. The advice says which one was meant. */
function toggle(key: string): Form<boolean> {
  return boolean().advice((value) => {
    const meant = /^"?(?:false|no|off|0)"?$/i.test(JSON.stringify(value)) ? "false" : "true";
    return `Write "${key}": ${meant}, without quotes around ${meant}.`;
  });
}

/** Names, or patterns of names. */
const names = (example: string) => list(text({ empty: true })).advice(example);

const ROOT = custom<string | Root>({
  read(part) {
    const value = part.value();
    if ((typeof value === "string" && value !== "") || isRoot(value)) return value;
    part.error(`is neither a path nor an object with a "uri"`, `Write paths: "roots": ["."].`);
    return undefined;
  },
  fallback: ".",
  typeName: "string | Root",
  schema: {
    anyOf: [{ type: "string" }, { type: "object", required: ["uri"], properties: { uri: { type: "string" } } }],
  },
});

function isRoot(value: unknown): value is Root {
  return isRecord(value) && typeof value["uri"] === "string";
}

/** Which server it is, and how it is reached. */
const REACH = {
  id: text({ empty: true }).says("Its id, in a list of servers.").optional(),
  name: text({ empty: true }).says("A title for people.").optional(),
  command: kinds({ text: text({ empty: true }), list: words("command") })
    .advice((value) =>
      Array.isArray(value)
        ? `Put every item in quotes: "command": ${JSON.stringify(value.map(String))}.`
        : `Write the program in quotes: "command": "node".`,
    )
    .local()
    .says("A program to start, and its first arguments.")
    .optional(),
  args: words("args").local().optional(),
  cwd: text({ empty: true })
    .alias("workdir")
    .advice((value) => (typeof value === "object" ? "Write one text in quotes, without brackets." : QUOTES))
    .local()
    .says("The working folder of the program.")
    .optional(),
  env: texts(`"env": { "LOG_LEVEL": "debug" }`, SECRET_TEXT).local().says("Variables of the program.").optional(),
  env_passthrough: words("env_passthrough")
    .local()
    .says("Variables of the user that the program gets as well.")
    .optional(),
  url: text({ empty: true })
    .advice(QUOTES)
    .says("The address of a server on the network; a program may also give a `URL`.")
    .optional(),
  headers: texts(`"headers": { "X-Api-Version": "2" }`, SECRET_TEXT)
    .says("With `url`: headers of every request.")
    .optional(),
  oauth: kinds({ boolean: boolean(), map: OAUTH })
    .advice(`Write "oauth": { "clientId": "…" }, or leave "oauth" out.`)
    .says("With `url`: how to obtain a token; false: never. Default: as the server asks for it.")
    .optional(),
  api: text({ empty: true }).advice(QUOTES).local().says("A tool file; the server runs in this process.").optional(),
  upstream: text({ empty: true })
    .advice(QUOTES)
    .local()
    .says(
      'With `api`: an address on this machine instead of the real service; "fake" starts a fake that is generated from the file.',
    )
    .optional(),
  settings: texts(`"settings": { "version": "2" }`)
    .local()
    .says("With `api`: values of the settings that its tool file declares.")
    .optional(),
  type: TYPE.alias("transport")
    .says('Normally inferred; "sse" is the HTTP transport of 2024-11-05, to which "http" falls back automatically.')
    .optional(),
  timeout: time().own().says('Timeout of a call: "30s" or milliseconds.').optional(),
  connection_timeout: time().own().says("Timeout of connecting.").optional(),
  http_max_retries: whole()
    .own()
    .advice((value) =>
      typeof value === "string" && /^\d+$/.test(value)
        ? `Write it without quotes: "http_max_retries": ${value}.`
        : `Write "http_max_retries": 2, or 0 for no retries.`,
    )
    .says("With `url`: repetitions of a request that failed and may be repeated; default: 2.")
    .optional(),
  http_retry_backoff: time()
    .own()
    .says(
      'With `url`: the pause before the first repetition, "250ms" or milliseconds; it doubles each time. Default: 250 ms.',
    )
    .optional(),
  roots: list(ROOT)
    .own()
    .advice((value) =>
      Array.isArray(value)
        ? `Write paths: "roots": ["."].`
        : `Write it as a list: "roots": [${JSON.stringify(typeof value === "string" ? value : ".")}].`,
    )
    .local()
    .says("Roots of the server: paths or `file:` URIs.")
    .optional(),
  ca: kinds({ text: text({ empty: true }), list: words("ca") })
    .own()
    .advice(`Write it as a list: "ca": ["company-root.pem"].`)
    .local()
    .says("With `url` or `api`: PEM files of additional trusted certificate authorities.")
    .optional(),
  public_only: publicOnly("public_only")
    .own()
    .says(
      "With `url` or `api`: refuses internal addresses: loopback, private networks, cloud metadata; `allow` lists exceptions.",
    )
    .optional(),
};

/** Only for a host: when the server runs. */
const RUNNING = {
  enabled: toggle("enabled").optional(),
  disabled: toggle("disabled").optional(),
  auto_start: toggle("auto_start").own().says("Connect when the host opens, not on first use.").optional(),
  fail_if_no_tools: toggle("fail_if_no_tools").own().optional(),
  max_processes: whole({ least: 1 })
    .own()
    .advice("Use a number from 1.")
    .says("Maximum number of its processes.")
    .optional(),
  max_memory: size().own().says('Maximum memory of its processes together: "512MB" or a number of bytes.').optional(),
};

/** Only for a host: who may use what of it. */
const SHARING = {
  tools: record({
    allow: names(`Write "allow": ["search"].`).optional(),
    deny: names(`Write "deny": ["delete_*"].`).optional(),
  })
    .advice(`Write "tools": { "allow": ["search"] }.`)
    .says("Tools that may be used; patterns have `*`. `deny` wins.")
    .optional(),
  agents: names(`Write "agents": ["chat"].`)
    .own()
    .says("Share it only with the agents of these names; default: with all.")
    .optional(),
  pin: kinds({ boolean: boolean(), list: list(text({ empty: true })) })
    .own()
    .advice(`Write "pin": true, or "pin": ["search*"].`)
    .says("Use everything of the server, or tools with these names, only as it was accepted.")
    .optional(),
  always: names(`Write "always": ["search_issues"].`)
    .own()
    .says("Tools that an agent lists also where there are so many that it searches for the others; patterns have `*`.")
    .optional(),
  isolation: choice(["owner", "call", "shared"])
    .own()
    .says("Who shares a connection to it. Default: owner.")
    .optional(),
  prefix: text({
    pattern: SERVER_ID,
    not: "cannot be used in names",
    hint: `Use 1 to 32 lower-case letters, digits and dashes, starting with a letter: "prefix": "gh".`,
  })
    .own()
    .says("Prefix of its tool and prompt names, instead of the server's id.")
    .optional(),
};

/** How a server is written: the same object in a configuration file, the library and the gateway. */
export const SERVER_ENTRY = record(REACH, { open: true }).named("ServerEntry");
export const HOST_SETTINGS = record({ name: REACH.name, ...RUNNING, ...SHARING }, { open: true }).named("HostSettings");
/** All that a configuration file may say about a server. */
export const HOST_ENTRY = record(
  {
    ...REACH,
    envFile: text().local().says("With `command`: a file with variables, below those of `env`.").optional(),
    ...RUNNING,
    ...SHARING,
  },
  { open: true },
).named("Server");

/** The members of `oauth` as they are written. */
export type OAuthMembers = Infer<typeof OAUTH>;
/** The settings of a server that only a host uses. */
export type HostSettings = Given<Infer<typeof HOST_SETTINGS>>;
export type EntryIdentityProvider = Given<Infer<typeof IDENTITY_PROVIDER>>;

/** A rule about internal addresses: true, false, or exceptions. */
export function publicOnly(key: string): Form<boolean | { allow: string[]; advice?: string }> {
  return kinds({ boolean: boolean(), map: record({ allow: list(text()), advice: text().optional() }) }).advice(
    `Write "${key}": true, or { "allow": ["10.0.0.5"] }.`,
  );
}

/** A value and the file that has it. */
function notBoth(one: string, other: string): Need {
  return {
    count: "atMostOne",
    of: [one, other],
    message: `has both "${one}" and "${other}"`,
    hint: "Delete one of them.",
  };
}

type Trait = "local" | "secret" | "own";

/** The names of the members of a record in all spellings; with a trait, of those that have it. */
export function memberKeys({ spec }: Declared, trait?: Trait): string[] {
  if (spec.kind !== "record") return [];
  return Object.entries(spec.members).flatMap(([name, { traits }]) =>
    trait === undefined || traits[trait] ? [name, ...(traits.aliases ?? [])] : [],
  );
}

/** The same with those of records inside of it, and with what is ignored. */
export function allNames(form: Declared): string[] {
  const { spec } = form;
  if (spec.kind === "kinds") return Object.values(spec.kinds).flatMap(allNames);
  if (spec.kind !== "record") return [];
  const inner = Object.values(spec.members).flatMap(allNames);
  return [...new Set([...memberKeys(form), ...inner, ...(spec.options.ignored ?? [])])];
}

/** Whether these keys, in any spelling, lead to a member with the trait, or inside of one. */
export function hasTrait(form: Declared, path: readonly string[], trait: Trait): boolean {
  if (form.traits[trait]) return true;
  const [key, ...inner] = path;
  const next = key === undefined ? undefined : memberForm(form, key);
  return next !== undefined && hasTrait(next, inner, trait);
}

/** Whether this key of `oauth` has a key that signs and is never sent. */
export function isSigningKey(key: string): boolean {
  return memberForm(OAUTH, key) === memberForm(OAUTH, "privateKey");
}

function memberForm({ spec }: Declared, key: string): Declared | undefined {
  if (spec.kind === "map" || spec.kind === "list") return spec.of;
  if (spec.kind === "kinds") {
    const found = Object.values(spec.kinds).map((each) => memberForm(each, key));
    return found.find((each) => each !== undefined);
  }
  if (spec.kind !== "record") return undefined;
  const isMember = ([name, { traits }]: [string, Declared]) => name === key || traits.aliases?.includes(key);
  return Object.entries(spec.members).find(isMember)?.[1];
}
