import { fieldsInName, secretNames, signingNames } from "../../file/model/secret-names.ts";
import type { SecretsSpec, UpstreamOAuthSpec } from "../../file/model/tool-file.ts";
import { SecretLookup, type SecretSource } from "./secret-lookup.ts";
import type { TokenGrant } from "./upstream-tokens.ts";

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

const FOR_HEADER = { place: "header" } as const;
const FOR_COOKIE = { place: "cookie" } as const;

export interface CredentialsOptions extends SecretSource {
  /** The address of the request, as `https://api.example`. */
  origin: string;
  /** The address of the token endpoint that is used for one of the file. */
  tokenUrl: (written: string) => string;
}

/**
 * The secrets of one request; each is masked from now on. All that are missing or not allowed are reported together.
 */
export async function credentialsFor(
  spec: SecretsSpec,
  input: Record<string, unknown>,
  options: CredentialsOptions,
): Promise<Credentials> {
  const { origin, redaction } = options;
  const lookup = new SecretLookup(options, input, spec.public);
  const get = (written: string) => lookup.get(written, origin);
  const forHeader = (written: string) => lookup.get(written, origin, FOR_HEADER);
  // Only what has names is waited for.
  const query = hasNames(spec.query) ? await all(spec.query, get) : NO_CREDENTIALS.query;
  const headers = hasNames(spec.headers) ? await all(spec.headers, forHeader) : {};
  const cookies = spec.cookies
    ? await all(spec.cookies, (written) => lookup.get(written, origin, FOR_COOKIE))
    : NO_CREDENTIALS.cookies;
  const body = spec.body ? await all(spec.body, get) : NO_CREDENTIALS.body;
  if (spec.bearer !== undefined) headers["authorization"] = `Bearer ${await forHeader(spec.bearer)}`;
  if (spec.basic) {
    const pair = Buffer.from(`${await get(spec.basic.user)}:${await get(spec.basic.password)}`).toString("base64");
    redaction.hide(pair);
    headers["authorization"] = `Basic ${pair}`;
  }
  const signing = spec.sign === undefined ? NO_CREDENTIALS.signing : await signingSecrets(spec.sign, get);
  const grant = spec.oauth && (await grantFor(spec.oauth, lookup, options));
  lookup.throwIfIncomplete();
  return { query, headers, cookies, body, signing, grant };
}

async function signingSecrets(sign: SecretsSpec["sign"], get: Take): Promise<ReadonlyMap<string, string>> {
  const signing = new Map<string, string>();
  for (const name of signingNames(sign)) signing.set(name, await get(name));
  return signing;
}

type Take = (written: string) => Promise<string>;

function hasNames(names: Record<string, string>): boolean {
  for (const name in names) if (Object.hasOwn(names, name)) return true;
  return false;
}

/** Several are looked up at the same time; most requests have one. */
async function all(names: Record<string, string>, take: Take): Promise<Record<string, string>> {
  const places = Object.keys(names);
  const found: Record<string, string> = {};
  const [first] = places;
  if (first === undefined) return found;
  if (places.length === 1) found[first] = await take(names[first] ?? "");
  else {
    const values = await Promise.all(places.map((at) => take(names[at] ?? "")));
    for (const [index, at] of places.entries()) found[at] = values[index] ?? "";
  }
  return found;
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
  for (const value of values) options.redaction.hide(value ?? "");
}
