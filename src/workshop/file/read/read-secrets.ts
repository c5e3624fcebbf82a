import { type Part, present } from "./part.ts";
import { secretNames } from "../model/secret-names.ts";
import type { SecretsSpec } from "../model/tool-file.ts";

/** `pin-{hotelId}`: letters, digits, and input fields. */
const NAME = /^(?:[A-Za-z0-9._-]|\{[A-Za-z][A-Za-z0-9_]*\})+$/;
const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
/** Set by the sender of the request, or in other parts of the file. */
const OWN_HEADERS = ["host", "content-length", "transfer-encoding", "connection", "content-type", "cookie"];

export function readSecrets(part: Part): Record<string, SecretsSpec> {
  return Object.fromEntries(part.entries().map(([name, set]) => [name, readSet(set)]));
}

export function checkHeader(part: Part, header: string, hint: string): void {
  if (!HEADER.test(header)) part.keyError(`"${header}" cannot be the name of a header`);
  else if (OWN_HEADERS.includes(header.toLowerCase())) part.keyError(`${header} is set by itself`, "Leave it out.");
  else if (header.toLowerCase() === "authorization" && hint !== "") part.keyError(`${header} carries a secret`, hint);
}

function readSet(part: Part): SecretsSpec {
  part.members(["query", "headers", "bearer", "basic", "public", "sign"]);
  if (part.isMap && !["query", "headers", "bearer", "basic", "sign"].some((place) => part.has(place))) {
    part.error("says nowhere where its secrets go", "Give query, headers, bearer, basic or sign.");
  }
  for (const [header, name] of part.part("headers").entries()) checkHeader(name, header, "");
  const spec: SecretsSpec = present({
    query: readNames(part.part("query")),
    headers: readNames(part.part("headers")),
    bearer: readName(part.part("bearer")),
    basic: part.has("basic") ? readBasic(part.part("basic")) : undefined,
    public: [],
    sign: part.part("sign").text(),
  });
  if (spec.bearer !== undefined && spec.basic) part.error("bearer and basic both set the header Authorization");
  return { ...spec, public: readPublic(part.part("public"), secretNames(spec)) };
}

function readBasic(part: Part): { user: string; password: string } {
  part.members(["user", "password"], ["user", "password"]);
  return { user: readName(part.part("user")) ?? "", password: readName(part.part("password")) ?? "" };
}

function readNames(part: Part): Record<string, string> {
  return Object.fromEntries(part.entries().map(([place, name]) => [place, readName(name) ?? ""]));
}

function readName(part: Part): string | undefined {
  const name = part.text();
  if (name === undefined || NAME.test(name)) return name;
  part.error(
    `"${name}" is not a valid name of a secret`,
    "Names only: letters, digits, . _ - and {field}. Values are in the store.",
  );
  return name;
}

function readPublic(part: Part, known: readonly string[]): string[] {
  return part.items().flatMap((item) => {
    const name = item.text();
    if (name !== undefined && !known.includes(name)) item.error(`no secret of this set is called "${name}"`);
    return name === undefined ? [] : [name];
  });
}
