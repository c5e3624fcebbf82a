import { NexusError } from "../../../errors/nexus-error.ts";
import { checkSecretName } from "../../../auth/secret-name.ts";
import { notAllowed } from "../../../auth/secret-origins.ts";
import { renderTemplate } from "../../expression/template.ts";
import { fieldsInName, secretNames } from "../../file/model/secret-names.ts";
import type { SecretsSpec } from "../../file/model/tool-file.ts";
import type { Redaction } from "./redaction.ts";

/** The credentials of a request, by their place. */
export interface Credentials {
  query: Record<string, string>;
  headers: Record<string, string>;
}

export const NO_CREDENTIALS: Credentials = { query: {}, headers: {} };

/**
 * Finds a secret by its full name, `<server>.<name>`, for a request to an origin (`https://api.example`); throws
 * UNTRUSTED if it may not be sent there. Without an origin it is used only for masking.
 */
export type FindSecret = (name: string, origin?: string) => Promise<string | undefined>;

export interface CredentialsOptions extends SecretSource {
  /** The address of the request, as `https://api.example`. */
  origin: string;
}

/** The source of the secrets of one API. */
export interface SecretSource {
  /** The server's id. */
  server: string;
  find: FindSecret;
  redaction: Redaction;
}

/**
 * The secrets of one request; each is masked from now on. All that are missing or not allowed are reported together.
 */
export async function credentialsFor(
  spec: SecretsSpec,
  input: Record<string, unknown>,
  options: CredentialsOptions,
): Promise<Credentials> {
  const missing = new Set<string>();
  const refused = new Set<string>();
  const get = async (written: string): Promise<string> => {
    const name = `${options.server}.${renderTemplate(written, input)}`;
    checkSecretName(name);
    const value = await options.find(name, options.origin).catch((error: unknown) => {
      if (!(error instanceof NexusError) || error.code !== "UNTRUSTED") throw error;
      refused.add(name);
      return "";
    });
    if (refused.has(name)) return "";
    if (value === undefined || value === "") missing.add(name);
    else if (!spec.public.includes(written)) options.redaction.hide(value);
    return value ?? "";
  };
  const forHeader = async (written: string): Promise<string> => {
    const value = await get(written);
    if (/[^\x20-\x7e]/.test(value)) throw unfit(`${options.server}.${renderTemplate(written, input)}`);
    return value;
  };
  const all = async (names: Record<string, string>, take: typeof get): Promise<Record<string, string>> => {
    const entries = Object.entries(names);
    const values = await Promise.all(entries.map(([, name]) => take(name)));
    return Object.fromEntries(entries.map(([at], index) => [at, values[index] ?? ""]));
  };
  const credentials = { query: await all(spec.query, get), headers: await all(spec.headers, forHeader) };
  if (spec.bearer !== undefined) credentials.headers["authorization"] = `Bearer ${await forHeader(spec.bearer)}`;
  if (spec.basic) {
    const pair = Buffer.from(`${await get(spec.basic.user)}:${await get(spec.basic.password)}`).toString("base64");
    options.redaction.hide(pair);
    credentials.headers["authorization"] = `Basic ${pair}`;
  }
  if (refused.size > 0) throw notAllowed([...refused], options.origin);
  if (missing.size > 0) throw notSet([...missing]);
  return credentials;
}

/** Registers all secrets without arguments for masking, before something is shown that may contain them. */
export async function hideSecrets(specs: Iterable<SecretsSpec>, options: SecretSource): Promise<void> {
  const written = [...specs].flatMap((spec) =>
    secretNames(spec).filter((name) => fieldsInName(name).length === 0 && !spec.public.includes(name)),
  );
  const values = await Promise.all([...new Set(written)].map((name) => options.find(`${options.server}.${name}`)));
  for (const value of values) options.redaction.hide(value ?? "");
}

/** The usual cause is the line break at the end of a copied file. */
function unfit(name: string): NexusError {
  return new NexusError(
    "AUTH_REQUIRED",
    `The secret ${name} holds a line break or another character that a header cannot hold, so nothing was sent`,
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
