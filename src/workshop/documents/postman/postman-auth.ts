import { present } from "../../../format/part.ts";
import type { ApiFacts, Evidence, OperationFacts, SecuritySchemeFacts } from "../api-facts.ts";
import { whyUnsendable } from "../unsendable-credentials.ts";
import type { PostmanPart } from "./postman-part.ts";
import type { PostmanVariables } from "./postman-variables.ts";

const NAMES: Readonly<Record<SecuritySchemeFacts["kind"], string>> = {
  apiKey: "apiKey",
  bearer: "bearer",
  basic: "basic",
  oauth2: "oauth2",
  "aws-sigv4": "aws",
  other: "auth",
};

/** The credentials of a collection: each kind and place once. Values are never read. */
export class PostmanAuth {
  readonly schemes: ApiFacts["security"] = {};
  readonly #known = new Map<string, string>();

  /**
   * The credentials of a request: its own `auth`, or that of the nearest folder or the collection (`inherited`), and
   * those that its headers and query have.
   */
  of(
    inherited: PostmanPart,
    found: readonly SecuritySchemeFacts[],
    variables: PostmanVariables,
  ): OperationFacts["security"] {
    const declared = inherited.isThere ? this.#schemeOf(inherited, variables) : undefined;
    const all = [...(declared ? [declared] : []), ...found];
    if (all.length === 0) return [];
    return [[...new Set(all.map((scheme) => this.#name(scheme)))].map((scheme) => ({ scheme, scopes: [] }))];
  }

  #schemeOf(auth: PostmanPart, variables: PostmanVariables): SecuritySchemeFacts | undefined {
    const type = auth.part("type").text() ?? "noauth";
    const own = auth.part(type);
    const { evidence } = auth;
    const get = (key: string) => {
      const text = own.entry(key);
      return text === undefined ? undefined : variables.resolve(text);
    };
    switch (type) {
      case "noauth":
        return undefined;
      case "bearer":
        return { kind: "bearer", evidence };
      case "basic":
        return { kind: "basic", evidence };
      case "apikey": {
        const name = get("key") ?? "";
        const place = get("in") === "query" ? "query" : "header";
        return { kind: "apiKey", in: place, name: name === "" ? "X-API-Key" : name, evidence };
      }
      case "oauth2":
        return oauthOf(get, evidence);
      case "awsv4":
        return awsOf(get, evidence);
      default:
        return { kind: "other", type, evidence, ...present({ unsendable: whyUnsendable(type) }) };
    }
  }

  #name(scheme: SecuritySchemeFacts): string {
    const { evidence: _, description: __, ...rest } = scheme;
    const key = JSON.stringify(rest);
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const base = NAMES[scheme.kind];
    let name = base;
    for (let count = 2; Object.hasOwn(this.schemes, name); count++) name = `${base}${count}`;
    this.#known.set(key, name);
    this.schemes[name] = scheme;
    return name;
  }
}

/** Keys are never read; only whether they are temporary, and the codes of service and region. */
function awsOf(get: (key: string) => string | undefined, evidence: Evidence): SecuritySchemeFacts {
  const codeIn = (key: string) => {
    const code = get(key)?.trim().toLowerCase() ?? "";
    return /^[a-z0-9][a-z0-9.-]*$/.test(code) ? code : undefined;
  };
  return {
    kind: "aws-sigv4",
    evidence,
    hasSession: (get("sessionToken") ?? "") !== "",
    ...present({ service: codeIn("service"), region: codeIn("region") }),
  };
}

function oauthOf(get: (key: string) => string | undefined, evidence: Evidence): SecuritySchemeFacts {
  const grant = get("grant_type") ?? "authorization_code";
  const written = get("accessTokenUrl") ?? "";
  const tokenUrl = URL.canParse(written) ? written : undefined;
  const scopes = (get("scope") ?? "").split(/\s+/).filter((scope) => scope !== "" && !scope.includes("{{"));
  const isOwn = grant === "client_credentials";
  return {
    kind: "oauth2",
    evidence,
    needsPerson: !isOwn,
    ...(tokenUrl !== undefined && { tokenUrl }),
    ...(isOwn && tokenUrl !== undefined && { clientCredentials: { tokenUrl, scopes } }),
  };
}
