import { fieldsInName, secretNames, signingNames } from "../../file/model/secret-names.ts";
import type { SecretsSpec, UpstreamOAuthSpec } from "../../file/model/tool-file.ts";
import type { HiddenValues } from "../../../masking/hidden-values.ts";
import type { FindSecret } from "./secret-lookup.ts";
import type { TokenGrant } from "./upstream-tokens.ts";
import { checkSecretName } from "../../../auth/secret-name.ts";
import { NexusError } from "../../../errors/nexus-error.ts";
import { renderTemplate } from "../../expression/template.ts";
import { notAllowed } from "../../../auth/secret-origins.ts";

const NO_PURPOSE: SecretPurpose = {};

/** The credentials of a request, by their place. */
export interface Credentials {
  query: Record<string, string>;
  headers: Record<string, string>;
  cookies: Record<string, string>;
  /** By input field. */
  body: Record<string, string>;
  /** The secrets of a built-in signer, by their names in the file. */
  signing: ReadonlyMap<string, string>;
  /** How its access token is obtained. */
  grant?: TokenGrant | undefined;
}

export const NO_CREDENTIALS: Credentials = { query: {}, headers: {}, cookies: {}, body: {}, signing: new Map() };

/** A secret of a request, and where its value goes: `at` is the name there. */
export interface SecretPlace {
  kind: "query" | "headers" | "bearer" | "cookies" | "body" | "user" | "password" | "signing";
  at: string;
  written: string;
}

/** Where the secrets of a set go, without those for a token. */
export function secretPlaces({ query, headers, bearer, cookies, body, basic, sign }: SecretsSpec): SecretPlace[] {
  const named = (kind: SecretPlace["kind"], names: Record<string, string> = {}) =>
    Object.entries(names).map(([at, written]): SecretPlace => ({ kind, at, written }));
  return [
    ...named("query", query),
    ...named("headers", headers),
    ...named("bearer", bearer === undefined ? {} : { authorization: bearer }),
    ...named("cookies", cookies),
    ...named("body", body),
    // The password follows the user.
    ...(basic
      ? [...named("user", { authorization: basic.user }), ...named("password", { authorization: basic.password })]
      : []),
    ...signingNames(sign).map((name): SecretPlace => ({ kind: "signing", at: name, written: name })),
  ];
}

interface CredentialsOptions extends SecretSource {
  places: readonly SecretPlace[];
  /** The address of the request, as `https://api.example`. */
  origin: string;
  /** The address of the token endpoint that is used for one of the file. */
  tokenUrl: (written: string) => string;
}

/**
 * The secrets of one request; each is masked from now on. All that are missing or not allowed are reported together.
 * Most requests have one, which is not waited for in more steps than necessary.
 */
export function credentialsFor(
  spec: SecretsSpec,
  input: Record<string, unknown>,
  options: CredentialsOptions,
): Promise<Credentials> {
  const { places, origin, hidden } = options;
  const lookup = new SecretLookup(options, input, spec.public);
  const get = ({ kind, written }: SecretPlace) => lookup.get(written, origin, PURPOSES[kind]);
  // Async: a name that is not valid must not leave the promises of those before it without a handler.
  const getAll = () => Promise.all(places.map(async (place) => get(place)));
  if (spec.oauth) return withGrant(spec.oauth, lookup, { options, values: getAll() });
  const filled = (values: readonly string[]) => {
    lookup.throwIfIncomplete();
    return credentialsOf(places, values, hidden);
  };
  const [only] = places;
  return only && places.length === 1 ? get(only).then((value) => filled([value])) : getAll().then(filled);
}

/** What a secret must be fit for. */
const PURPOSES: Partial<Record<SecretPlace["kind"], SecretPurpose>> = {
  headers: { place: "header" },
  bearer: { place: "header" },
  cookies: { place: "cookie" },
};

async function withGrant(
  spec: UpstreamOAuthSpec,
  lookup: SecretLookup,
  { options, values: looking }: { options: CredentialsOptions; values: Promise<string[]> },
): Promise<Credentials> {
  const values = await looking;
  const grant = await grantFor(spec, lookup, options);
  lookup.throwIfIncomplete();
  return { ...credentialsOf(options.places, values, options.hidden), grant };
}

function credentialsOf(places: readonly SecretPlace[], values: readonly string[], hidden: HiddenValues): Credentials {
  const { query, cookies, body } = NO_CREDENTIALS;
  const credentials: Credentials = { query, headers: {}, cookies, body, signing: NO_CREDENTIALS.signing };
  const { headers } = credentials;
  places.forEach(({ kind, at }, index) => {
    const value = values[index] ?? "";
    switch (kind) {
      case "headers":
        headers[at] = value;
        break;
      case "bearer":
        headers[at] = `Bearer ${value}`;
        break;
      case "query":
      case "cookies":
      case "body":
        credentials[kind] = { ...credentials[kind], [at]: value };
        break;
      case "signing":
        credentials.signing = new Map([...credentials.signing, [at, value]]);
        break;
      case "user":
        break;
      case "password": {
        const pair = Buffer.from(`${values[index - 1] ?? ""}:${value}`).toString("base64");
        hidden.hide(pair);
        headers[at] = `Basic ${pair}`;
        break;
      }
    }
  });
  return credentials;
}

/** Its secrets go to the token endpoint only. */
async function grantFor(
  spec: UpstreamOAuthSpec,
  lookup: SecretLookup,
  { tokenUrl, find }: CredentialsOptions,
): Promise<TokenGrant> {
  const url = tokenUrl(spec.tokenUrl);
  const { origin } = new URL(url);
  const { refreshToken } = spec;
  return {
    spec,
    url,
    clientId: await lookup.get(spec.clientId, origin),
    clientSecret: spec.clientSecret === undefined ? undefined : await lookup.get(spec.clientSecret, origin),
    secrets: [spec.clientId, ...(spec.clientSecret === undefined ? [] : [spec.clientSecret])].map((name) =>
      lookup.nameOf(name),
    ),
    ...(refreshToken !== undefined && {
      refresh: {
        name: lookup.nameOf(refreshToken),
        token: await lookup.get(refreshToken, origin, { isToken: true }),
        find: () => find(lookup.nameOf(refreshToken), origin),
      },
    }),
  };
}

/** Registers all secrets without arguments for masking, before something is shown that may contain them. */
export async function hideSecrets(specs: Iterable<SecretsSpec>, options: SecretSource): Promise<void> {
  const written = [...specs].flatMap((spec) =>
    secretNames(spec).filter((name) => fieldsInName(name).length === 0 && !spec.public.includes(name)),
  );
  const values = await Promise.all([...new Set(written)].map((name) => options.find(`${options.server}.${name}`)));
  for (const value of values) options.hidden.hide(value ?? "");
}

/** The source of the secrets of one API. */
interface SecretSource {
  /** The server's id. */
  server: string;
  find: FindSecret;
  hidden: HiddenValues;
}

/** The secrets of one request. All that are missing or not allowed are reported together, at the end. */
class SecretLookup {
  readonly #source: SecretSource;
  readonly #input: Record<string, unknown>;
  readonly #public: readonly string[];
  /** Undefined while all were found, as in most requests. */
  #missing: Set<string> | undefined;
  /** By origin. */
  #refused: Map<string, Set<string>> | undefined;

  constructor(source: SecretSource, input: Record<string, unknown>, publicNames: readonly string[]) {
    this.#source = source;
    this.#input = input;
    this.#public = publicNames;
  }

  /**
   * The value for a request to an origin, masked from now on; "" if there is none. `place`: it becomes a part of that.
   * `isToken`: it is replaced often.
   */
  get(written: string, origin: string, purpose: SecretPurpose = NO_PURPOSE): Promise<string> {
    const name = this.nameOf(written);
    checkSecretName(name);
    return this.#source.find(name, origin).then(
      (value) => {
        if (value === undefined || value === "") (this.#missing ??= new Set()).add(name);
        else if (purpose.isToken) this.#source.hidden.add([value]);
        else if (!this.#public.includes(written)) this.#source.hidden.hide(value);
        if (purpose.place !== undefined && value !== undefined) requireFitting(name, value, purpose.place);
        return value ?? "";
      },
      (error: unknown) => {
        if (!(error instanceof NexusError) || error.code !== "UNTRUSTED") throw error;
        this.#refused ??= new Map();
        this.#refused.set(origin, (this.#refused.get(origin) ?? new Set()).add(name));
        return "";
      },
    );
  }

  /** The full name, with the values of the input. */
  nameOf(written: string): string {
    return `${this.#source.server}.${renderTemplate(written, this.#input)}`;
  }

  throwIfIncomplete(): void {
    for (const [origin, names] of this.#refused ?? []) throw notAllowed([...names], origin);
    if (this.#missing) throw notSet([...this.#missing]);
  }
}

/** A cookie cannot have these characters (RFC 6265, section 4.1.1). */
function requireFitting(name: string, value: string, place: "header" | "cookie"): void {
  if (/[^\x20-\x7e]/.test(value)) throw unfit(name, "header");
  if (place === "cookie" && /[ ",;\\]/.test(value)) throw unfit(name, place);
}

/** The usual cause is the line break at the end of a copied file. */
function unfit(name: string, place: string): NexusError {
  return new NexusError(
    "AUTH_REQUIRED",
    `The secret ${name} holds a line break or another character that a ${place} cannot hold, so nothing was sent`,
    { hint: `The operator of this server has to run: nexus secrets set ${name}`, mayHaveReached: false },
  );
}

function notSet(names: string[]): NexusError {
  const message =
    names.length === 1
      ? `The secret ${names[0]} is not set, so nothing was sent`
      : `The secrets ${names.join(", ")} are not set, so nothing was sent`;
  return new NexusError("AUTH_REQUIRED", message, {
    hint: `The operator of this server has to run: ${names.map((name) => `nexus secrets set ${name}`).join(", ")}`,
    mayHaveReached: false,
  });
}

/** What a secret is looked up for. */
interface SecretPurpose {
  place?: "header" | "cookie";
  isToken?: boolean;
}
