import { renderTemplate } from "../expression/template.ts";
import { secretNames, signingNames } from "../file/model/secret-names.ts";
import { exampleSettings } from "../run/setting-values.ts";
import { isSigned } from "../run/signing/built-in-signer.ts";
import type { SignableRequest } from "../run/signing/signable-request.ts";
import type { SecretsSpec, SignerSpec, ToolFile, RequestToolSpec } from "../file/model/tool-file.ts";

/** The parts of a request that may have credentials. */
interface Carried {
  query: URLSearchParams;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** What is needed to judge a request beside its parts: its signature covers all of it, and tokens were issued before. */
interface CredentialsCheck {
  /** The request as it came, with lower-case names of headers. */
  signable: () => SignableRequest;
  isIssued: (set: string, authorization: unknown) => boolean;
}

const MASK = "***";

/**
 * The credentials that the fake accepts, by name without the API's name: those in the file, and a placeholder for each
 * other name.
 */
export function placeholderSecrets(file: ToolFile): Record<string, string> {
  const names = Object.values(file.secrets)
    .flatMap(secretNames)
    // A name with an argument has many values: only those in the file exist.
    .filter((name) => !name.includes("{"));
  return { ...Object.fromEntries(names.map((name) => [name, `demo-${name}`])), ...file.fake.secrets };
}

/** Whether a request has the required credentials in their places. */
export function isAccepted(
  file: ToolFile,
  spec: RequestToolSpec,
  { query, headers }: Carried,
  input: Record<string, unknown>,
  check?: CredentialsCheck,
): boolean {
  const secrets = secretsOf(file, spec);
  if (!secrets) return true;
  const known = placeholderSecrets(file);
  const valueOf = (name: string) => {
    const filled = renderTemplate(name, input);
    return Object.hasOwn(known, filled) ? known[filled] : undefined;
  };
  const is = (given: unknown, name: string) => given !== undefined && given === valueOf(name);
  return (
    Object.entries(secrets.query).every(([name, secret]) => {
      const given = query.getAll(name);
      return given.length === 1 && is(given[0], secret);
    }) &&
    Object.entries(secrets.headers).every(([name, secret]) => is(headers[name.toLowerCase()], secret)) &&
    Object.entries(secrets.body ?? {}).every(([field, secret]) => is(input[field], secret)) &&
    Object.entries(secrets.cookies ?? {}).every(([name, secret]) => is(cookieIn(headers["cookie"], name), secret)) &&
    authorizationIsRight(secrets, headers["authorization"], valueOf) &&
    (!secrets.oauth || check?.isIssued(spec.request.secrets ?? "", headers["authorization"]) === true) &&
    (typeof secrets.sign !== "object" || (check !== undefined && signatureIsRight(file, secrets.sign, check, valueOf)))
  );
}

/** The query with secrets masked, for showing received requests. */
export function maskedQuery(file: ToolFile, spec: RequestToolSpec | undefined, query: URLSearchParams): string {
  const secrets = spec && secretsOf(file, spec);
  const masked = [...query].map(([name, value]): [string, string] => {
    const secret = secrets?.query[name];
    const isSafe = secret === undefined ? isParameter(spec, name) : secrets?.public.includes(secret);
    return [name, isSafe ? value : MASK];
  });
  return masked.map(([name, value]) => `${encodeURIComponent(name)}=${shown(value)}`).join("&");
}

/** A body and what was read of it, with secrets masked. */
export function maskedBody(
  file: ToolFile,
  spec: RequestToolSpec | undefined,
  body: string,
  input: Record<string, unknown>,
): { body: string; input: Record<string, unknown> } {
  const secrets = spec && secretsOf(file, spec);
  const fields = Object.entries(secrets?.body ?? {}).filter(([, name]) => !secrets?.public.includes(name));
  if (fields.length === 0) return { body, input };
  const seen = { ...input };
  let text = body;
  for (const [field] of fields) {
    const value = seen[field];
    if (typeof value !== "string" || value === "") continue;
    text = text.replaceAll(value, MASK);
    seen[field] = MASK;
  }
  return { body: text, input: seen };
}

function secretsOf(file: ToolFile, spec: RequestToolSpec): SecretsSpec | undefined {
  return spec.request.secrets === undefined ? undefined : file.secrets[spec.request.secrets];
}

/** An undeclared parameter may be a secret in the wrong place. */
function isParameter(spec: RequestToolSpec | undefined, name: string): boolean {
  return spec !== undefined && Object.hasOwn(spec.request.query, name);
}

function shown(value: string): string {
  return value === MASK ? MASK : encodeURIComponent(value);
}

/** The value of a cookie, if there is exactly one of the name. */
function cookieIn(header: string | string[] | undefined, name: string): string | undefined {
  const pairs = [header ?? ""].flat().flatMap((text) => text.split(/; */));
  const values = pairs.filter((pair) => pair.startsWith(`${name}=`)).map((pair) => pair.slice(name.length + 1));
  return values.length === 1 ? values[0] : undefined;
}

function signatureIsRight(
  file: ToolFile,
  sign: SignerSpec,
  { signable }: CredentialsCheck,
  valueOf: (name: string) => string | undefined,
): boolean {
  if (signingNames(sign).some((name) => valueOf(name) === undefined)) return false;
  return isSigned(sign, signable(), { secret: (name) => valueOf(name) ?? "", settings: exampleSettings(file) });
}

function authorizationIsRight(
  { bearer, basic }: SecretsSpec,
  given: unknown,
  valueOf: (name: string) => string | undefined,
): boolean {
  if (bearer !== undefined && (valueOf(bearer) === undefined || given !== `Bearer ${valueOf(bearer)}`)) return false;
  if (!basic) return true;
  const [user, password] = [valueOf(basic.user), valueOf(basic.password)];
  if (user === undefined || password === undefined) return false;
  return given === `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
}
