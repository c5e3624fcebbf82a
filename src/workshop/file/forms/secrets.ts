import { choice, json, kinds, list, map, record, schemaWhen, text } from "../../../format/form.ts";
import { present, type Part } from "../../../format/part.ts";
import { linearPattern } from "../../pattern/linear-pattern.ts";
import { UnusablePattern } from "../../pattern/parse-pattern.ts";
import { StepBudget } from "../../pattern/step-budget.ts";
import { secretNames } from "../model/secret-names.ts";
import type { HmacSignerSpec, SecretsSpec, SettingSpec, SignerSpec } from "../model/tool-file.ts";
import { ADDRESS, EVIDENCE, headerNames } from "./parts.ts";
import { misfit, PATTERN, SCALAR_MEMBERS, scalarOf } from "./scalars.ts";

/** The name of a secret; a value in its place is reported. */
const SECRET_NAME = text({
  pattern: /^(?:[A-Za-z0-9._-]|\{[A-Za-z][A-Za-z0-9_]*\})+$/,
  not: "is not a valid name of a secret",
  hint: "Names only: letters, digits, . _ - and {field}. Values are in the store.",
})
  .says("Letters, digits, `.`, `_`, `-` and `{field}`.")
  .named("secretName");

const SCOPE = text({
  // RFC 6749, section 3.3.
  pattern: /^[!#-[\]-~]+$/,
  not: "is not a scope",
  hint: "Write each scope as an item of a list.",
});

/** How a token is obtained. The names of the secrets are required as far as the grant needs them. */
export const OAUTH = record(
  {
    grant: choice(["client_credentials", "refresh_token"])
      .says(
        "`client_credentials`: the client's own token. `refresh_token`: a token of the person who got the refresh token; a new refresh token in an answer is stored in place of the old one.",
      )
      .default("client_credentials"),
    tokenUrl: ADDRESS.says("The address of the token endpoint. It must be within `upstream.allow`."),
    clientId: SECRET_NAME.says("The name of the secret that is the id of the client."),
    clientSecret: SECRET_NAME.says("The name of the secret that is the secret of the client.").optional(),
    refreshToken: SECRET_NAME.says(
      "The name of the secret that is the refresh token; only for `refresh_token`.",
    ).optional(),
    scope: list(SCOPE, { single: true }).says("The scopes that are asked for.").optional(),
    audience: text().says("Sent as `audience`, which some authorization servers need.").optional(),
    client: choice(["basic", "post"])
      .says("How the client authenticates: in the header Authorization, or in the body.")
      .omits("basic"),
  },
  {
    foreign: {
      token_url: "Write tokenUrl.",
      client_id: "Write clientId, with the name of a secret.",
      client_secret: "Write clientSecret, with the name of a secret.",
      scopes: "Write scope, with a list of scopes.",
    },
  },
)
  .check(({ grant }, part) => {
    if (grant === "refresh_token") {
      if (!part.has("refreshToken")) part.error("refreshToken is missing");
      return;
    }
    if (!part.has("clientSecret"))
      part.error("clientSecret is missing: a client without a secret cannot use this grant");
    if (part.has("refreshToken")) {
      part.part("refreshToken").keyError("belongs to the grant refresh_token", "Write grant: refresh_token.");
    }
  })
  .schema(
    schemaWhen(
      { properties: { grant: { const: "refresh_token" } }, required: ["grant"] },
      { required: ["refreshToken"] },
      { required: ["clientSecret"], not: { required: ["refreshToken"] } },
    ),
  )
  .says(
    "An access token from an authorization server, sent as `Authorization: Bearer …`. It is kept in memory, renewed before it expires, and once more if the API does not accept it. The names of secrets stand here, their values in the secret store; they are sent to the token endpoint only.",
  )
  .example({
    tokenUrl: "https://auth.shop.example/token",
    clientId: "client-id",
    clientSecret: "client-secret",
    scope: ["orders.read"],
  })
  .named("oauth");

function codeOf(what: string) {
  return text({
    pattern: /^[a-z0-9][a-z0-9.-]*$/,
    not: `is not the code of a ${what}`,
    hint: "Write it as in addresses, like s3 or eu-west-1.",
  });
}

export const AWS = record({
  service: codeOf("service").says("Its code in addresses: `s3`, `execute-api`."),
  region: codeOf("region").says("Its code in addresses: `eu-west-1`."),
  accessKey: SECRET_NAME.says("The name of the secret that is the id of the access key."),
  secretKey: SECRET_NAME.says("The name of the secret that is the secret access key."),
  sessionToken: SECRET_NAME.says("The name of the secret that is the token of temporary credentials.").optional(),
});

export const HMAC = record({
  algorithm: choice(["sha256", "sha1", "sha512"]).says("The hash.").default("sha256"),
  key: SECRET_NAME.says("The name of the secret that is the key."),
  id: SECRET_NAME.says("The name of the secret that tells whose key it is: `id` in the templates.").optional(),
  text: text().says(
    "A template: the text that is signed. It has `method`, `host`, `path`, `query`, `body`, `bodyHash`, `timestamp` (seconds since 1970), `date` (as in the header Date), `nonce`, `id` and `settings`.",
  ),
  encoding: choice(["hex", "base64"]).says("How the signature and `bodyHash` are written.").default("hex"),
  headers: map(text(), { names: headerNames() })
    .check((headers, part) => {
      if (Object.keys(headers).length === 0) part.error("names no header");
    })
    .schema({ minProperties: 1 })
    .says(
      "Templates of the headers that are added; they also have `signature`. A time or nonce that is signed must be in one of them.",
    ),
});

const SIGNER = record(
  {
    "aws-sigv4": AWS.says("Signature Version 4 of AWS.").optional(),
    hmac: HMAC.says("An HMAC over a text that is made of the request.").optional(),
  },
  {
    needs: [
      {
        count: "one",
        of: ["aws-sigv4", "hmac"],
        message: "must name one signer",
        hint: "Known are aws-sigv4, hmac.",
      },
    ],
  },
)
  .says("A built-in signer.")
  .example({
    "aws-sigv4": { service: "s3", region: "eu-west-1", accessKey: "access-key", secretKey: "secret-key" },
  })
  .named("signer")
  .to<SignerSpec>({
    typeName: "SignerSpec",
    read: ({ hmac, "aws-sigv4": aws }) =>
      hmac ? { kind: "hmac", ...hmac } : aws ? { kind: "aws-sigv4", ...aws } : undefined,
    write: ({ kind, ...signer }) => ({ [kind]: signer }),
    fallback: {
      kind: "hmac",
      algorithm: "sha256",
      key: "",
      text: "",
      encoding: "hex",
      headers: {},
    } satisfies HmacSignerSpec,
  });

// RFC 6265, section 4.1.1.
const COOKIE = text({ pattern: /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, not: "cannot be the name of a cookie" });

const PLACES = ["query", "headers", "bearer", "basic", "cookies", "body", "oauth", "sign"];

/** The members of a set of secrets. */
export const SECRET_PLACES = record(
  {
    query: map(SECRET_NAME).says("By query parameter: the name of the secret.").filled(),
    headers: map(SECRET_NAME, { names: headerNames() }).says("By header: the name of the secret.").filled(),
    bearer: SECRET_NAME.says("Sent as `Authorization: Bearer …`.").optional(),
    basic: record({
      user: SECRET_NAME.says("The name of the secret that is the user name."),
      password: SECRET_NAME.says("The name of the secret that is the password."),
    })
      .says("Sent as `Authorization: Basic …`.")
      .optional(),
    cookies: map(SECRET_NAME, { names: COOKIE }).says("By cookie: the name of the secret.").optional(),
    body: map(SECRET_NAME)
      .says("By hidden input field: the name of the secret that is written in its place in the body.")
      .example({ password: "password" })
      .optional(),
    oauth: OAUTH.optional(),
    public: list(text())
      .says("Names whose values may be seen: user names and the like. All others are hidden wherever they turn up.")
      .filled(),
    sign: kinds({ text: text(), map: SIGNER })
      .says(
        "The name of a signer that the program provides, or a built-in signer. It gets the finished request and adds headers to it.",
      )
      .optional(),
  },
  {
    needs: [
      {
        count: "some",
        of: PLACES,
        message: "says nowhere where its secrets go",
        hint: "Give query, headers, bearer, basic, cookies, body, oauth or sign.",
      },
    ],
  },
);

/** Credentials that one or more requests carry. Only names stand here; values are in the secret store. */
export const SECRETS = SECRET_PLACES.check(checkAuthorization)
  .check((set, part) => {
    const known = secretNames(set);
    for (const item of part.has("public") ? part.part("public").items() : []) {
      const name = item.text();
      if (name !== undefined && !known.includes(name)) item.error(`no secret of this set is called "${name}"`);
    }
  })
  .schema({
    not: {
      anyOf: [
        ["bearer", "basic"],
        ["bearer", "oauth"],
        ["basic", "oauth"],
      ].map((required) => ({ required })),
    },
  })
  .says(
    "Credentials that requests carry, by where they go. Only names stand here; values are in the secret store as `<server>.<name>` (`nexus secrets set`), where the server's id is the `api` of the file unless its entry is called something else. They are sent to the origin of `upstream.base` only. A name may take a field of the input: `pin-{hotelId}`.",
  )
  .example({ query: { user: "user", password: "password" }, public: ["user"] })
  .named("secrets");

/** A request has one header Authorization. */
function checkAuthorization({ sign }: { sign?: SecretsSpec["sign"] }, part: Part): void {
  const setting = ["bearer", "basic", "oauth"].filter((place) => part.has(place));
  if (signsAuthorization(sign)) setting.push("sign");
  if (setting.length > 1) part.error(`${setting[0]} and ${setting[1]} both set the header Authorization`);
}

function signsAuthorization(sign: SecretsSpec["sign"]): boolean {
  if (typeof sign !== "object") return false;
  return sign.kind === "aws-sigv4" || Object.keys(sign.headers).some((name) => name.toLowerCase() === "authorization");
}

/** A text from the server's entry; computed input fields use it as `settings.name`. */
export const SETTING = record({
  description: text().says("What it is, for the person who configures the server.").optional(),
  minLength: SCALAR_MEMBERS.minLength,
  maxLength: SCALAR_MEMBERS.maxLength,
  pattern: PATTERN,
  enum: list(json())
    .schema({ minItems: 1, uniqueItems: true, items: { type: "string", pattern: String.raw`\S` } })
    .says("Only these.")
    .optional(),
  default: text().says("Used where the entry gives none; without it, the entry has to.").optional(),
  example: text().says("What the fake and the checks use.").optional(),
  evidence: EVIDENCE.filled(),
})
  .schema({ anyOf: [{ required: ["default"] }, { required: ["example"] }] })
  .to<SettingSpec>({
    typeName: "SettingSpec",
    read(members, part) {
      const { description, default: usual, example, evidence, ...limits } = members;
      const shape = scalarOf(limits, part, "string");
      const setting: SettingSpec = present({ description, shape, default: usual, example, evidence });
      for (const key of ["default", "example"] as const) {
        const value = setting[key];
        const wrong = value === undefined ? undefined : unfitGiven(setting, value);
        if (wrong !== undefined) part.part(key).error(wrong);
      }
      if (usual === undefined && !part.has("example")) {
        part.error("has neither default nor example", "Without a default, the fake and the checks need an example.");
      }
      return setting;
    },
    write: ({ shape: { minLength, maxLength, pattern, enum: values }, ...rest }) => ({
      ...rest,
      ...present({ minLength, maxLength, pattern, enum: values }),
    }),
    fallback: { shape: { kind: "scalar", type: "string", whitespace: "keep" }, evidence: [] },
  })
  .says("A text that the server's entry gives. It has a `default`, or an `example`.")
  .named("setting");

/** The problem of a setting's value; undefined if it is valid. */
export function unfitSetting({ shape }: SettingSpec, value: string): string | undefined {
  const wrong = misfit(shape, value)?.what;
  if (wrong !== undefined || shape.pattern === undefined) return wrong;
  return linearPattern(shape.pattern).test(value, new StepBudget()) ? undefined : `must match ${shape.pattern}`;
}

/** An invalid pattern is reported in its own place. */
function unfitGiven(setting: SettingSpec, value: string): string | undefined {
  try {
    return unfitSetting(setting, value);
  } catch (error) {
    if (error instanceof UnusablePattern) return undefined;
    throw error;
  }
}
