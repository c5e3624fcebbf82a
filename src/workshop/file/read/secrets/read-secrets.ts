import { type Part, present } from "../../../../format/part.ts";
import { secretNames } from "../../model/secret-names.ts";
import type { SecretsSpec } from "../../model/tool-file.ts";
import { readOAuth } from "./read-oauth.ts";
import { readSigner } from "./read-signer.ts";
import { checkHeader, readSecretName } from "../secret-name.ts";

const PLACES = ["query", "headers", "bearer", "basic", "cookies", "body", "oauth", "sign"];

export function readSecrets(part: Part): Record<string, SecretsSpec> {
  return Object.fromEntries(part.entries().map(([name, set]) => [name, readSet(set)]));
}

function readSet(part: Part): SecretsSpec {
  part.members([...PLACES, "public"]);
  if (part.isMap && !PLACES.some((place) => part.has(place))) {
    part.error(
      "says nowhere where its secrets go",
      "Give query, headers, bearer, basic, cookies, body, oauth or sign.",
    );
  }
  for (const [header, name] of part.part("headers").entries()) checkHeader(name, header, "");
  for (const [cookie, name] of part.part("cookies").entries()) checkCookie(name, cookie);
  const spec: SecretsSpec = present({
    query: readNames(part.part("query")),
    headers: readNames(part.part("headers")),
    bearer: readSecretName(part.part("bearer")),
    basic: part.has("basic") ? readBasic(part.part("basic")) : undefined,
    cookies: part.has("cookies") ? readNames(part.part("cookies")) : undefined,
    body: part.has("body") ? readNames(part.part("body")) : undefined,
    oauth: part.has("oauth") ? readOAuth(part.part("oauth")) : undefined,
    public: [],
    sign: readSigner(part.part("sign")),
  });
  checkAuthorization(part, spec);
  return { ...spec, public: readPublic(part.part("public"), secretNames(spec)) };
}

/** A request has one header Authorization. */
function checkAuthorization(part: Part, { bearer, basic, oauth, sign }: SecretsSpec): void {
  const setting = [
    ...(bearer === undefined ? [] : ["bearer"]),
    ...(basic ? ["basic"] : []),
    ...(oauth ? ["oauth"] : []),
    ...(signsAuthorization(sign) ? ["sign"] : []),
  ];
  if (setting.length > 1) part.error(`${setting[0]} and ${setting[1]} both set the header Authorization`);
}

function signsAuthorization(sign: SecretsSpec["sign"]): boolean {
  if (typeof sign !== "object") return false;
  return sign.kind === "aws-sigv4" || Object.keys(sign.headers).some((name) => name.toLowerCase() === "authorization");
}

function checkCookie(part: Part, cookie: string): void {
  // RFC 6265, section 4.1.1.
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(cookie)) part.keyError(`"${cookie}" cannot be the name of a cookie`);
}

function readBasic(part: Part): { user: string; password: string } {
  part.members(["user", "password"], ["user", "password"]);
  return { user: readSecretName(part.part("user")) ?? "", password: readSecretName(part.part("password")) ?? "" };
}

function readNames(part: Part): Record<string, string> {
  return Object.fromEntries(part.entries().map(([place, name]) => [place, readSecretName(name) ?? ""]));
}

function readPublic(part: Part, known: readonly string[]): string[] {
  return part.items().flatMap((item) => {
    const name = item.text();
    if (name !== undefined && !known.includes(name)) item.error(`no secret of this set is called "${name}"`);
    return name === undefined ? [] : [name];
  });
}
