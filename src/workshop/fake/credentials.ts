import { renderTemplate } from "../expression/template.ts";
import { secretNames } from "../file/model/secret-names.ts";
import type { SecretsSpec, ToolFile, RequestToolSpec } from "../file/model/tool-file.ts";

/** The parts of a request that may have credentials. */
export interface Carried {
  query: URLSearchParams;
  headers: Readonly<Record<string, string | string[] | undefined>>;
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
    authorizationIsRight(secrets, headers["authorization"], valueOf)
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
