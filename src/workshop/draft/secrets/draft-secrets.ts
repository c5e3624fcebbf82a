import type {
  ApiFacts,
  OperationFacts,
  ParameterFacts,
  SchemaFacts,
  SecuritySchemeFacts,
} from "../../documents/api-facts.ts";
import { placeholderIn } from "../../file/model/address-placeholder.ts";
import { secretNames } from "../../file/model/secret-names.ts";
import type { SecretsSpec, SignerSpec } from "../../file/model/tool-file.ts";
import { wordsOf } from "../names/words.ts";
import type { QuestionList } from "../questions.ts";
import type { YamlMap } from "../yaml/write-yaml.ts";

const UNKNOWN_TOKEN_URL = "https://login.example.invalid/token";

type Alternative = OperationFacts["security"][number];
export type BodySecret = NonNullable<SchemaFacts["secret"]>;

/** Finds out which credentials each operation needs, and collects the sets of secrets for them. */
export class SecretsDrafter {
  readonly #schemes: ApiFacts["security"];
  readonly #questions: QuestionList;
  readonly #servers: ApiFacts["servers"];
  /** By the content of the set. */
  readonly #sets = new Map<string, { name: string; set: SecretsSpec }>();
  readonly #needed: ReadonlySet<string>;

  constructor({ security, operations, servers }: ApiFacts, questions: QuestionList) {
    this.#schemes = security;
    this.#servers = servers;
    this.#questions = questions;
    // Schemes that some operation cannot do without: others, to which they are optional, use them as well.
    const demanding = operations.filter((operation) => !operation.security.some((each) => each.length === 0));
    this.#needed = new Set(demanding.flatMap((operation) => operation.security.flat().map(({ scheme }) => scheme)));
  }

  /** The name of the set for an operation and for parameters that carry credentials; undefined if it needs none. */
  setFor(
    operation: OperationFacts,
    parameters: readonly ParameterFacts[],
    tool: string,
    body: ReadonlyMap<string, BodySecret> = new Map(),
  ): string | undefined {
    const chosen = this.#choose(operation, tool);
    const set: SecretsSpec = { query: {}, headers: {}, public: [] };
    const servers = (operation.servers ?? this.#servers).map(({ url }) => url);
    for (const { scheme, scopes } of chosen) this.#addScheme(set, scheme, { scopes, tool, servers });
    const [shared] = secretNames(set);
    for (const parameter of parameters) this.#addParameter(set, parameter, shared);
    addBody(set, body);
    if (secretNames(set).length === 0) return undefined;
    // One token serves all tools, with the scopes of all of them.
    const key = JSON.stringify(set.oauth ? { ...set, oauth: { ...set.oauth, scope: [] } } : set);
    const known = this.#sets.get(key);
    if (known) {
      const scope = new Set([...(known.set.oauth?.scope ?? []), ...(set.oauth?.scope ?? [])]);
      if (known.set.oauth && scope.size > 0) known.set.oauth.scope = [...scope];
      return known.name;
    }
    const name = this.#nameOf(chosen, [...parameters, ...[...body.values()].map(({ name: own }) => ({ name: own }))]);
    this.#sets.set(key, { name, set });
    return name;
  }

  /**
   * The operation without the parameters that are also security schemes: they are secrets, which callers do not give. A
   * scheme whose parameter is required belongs to every request.
   */
  withoutSchemeParameters(operation: OperationFacts, tool: string): OperationFacts {
    let { security } = operation;
    const parameters = operation.parameters.filter((parameter) => {
      const scheme = this.#schemeOf(parameter, security);
      if (scheme === undefined) return true;
      const isUsed = security.some((each) => each.some((one) => one.scheme === scheme));
      if (isUsed && !parameter.required) return false;
      const own = { scheme, scopes: [] };
      if (isUsed) security = security.filter((each) => each.some((one) => one.scheme === scheme));
      else if (security.length === 0) security = parameter.required ? [[own]] : [[], [own]];
      else if (parameter.required) security = security.map((each) => [...each, own]);
      else {
        const ask = `The ${parameter.in} parameter "${parameter.name}" is the credential "${scheme}", which the document does not ask for here; the tool does not send it. Does the API need it?`;
        this.#questions.add(ask, `tools.${tool}.request`, parameter.evidence);
      }
      return false;
    });
    return parameters.length === operation.parameters.length ? operation : { ...operation, parameters, security };
  }

  /** The name of the scheme that is sent as this parameter, first one that the operation uses. */
  #schemeOf({ name, in: place }: ParameterFacts, security: OperationFacts["security"]): string | undefined {
    const isSame = (one: string) => (place === "header" ? one.toLowerCase() === name.toLowerCase() : one === name);
    const all = Object.entries(this.#schemes).flatMap(([scheme, facts]) =>
      facts.kind === "apiKey" && facts.in === place && isSame(facts.name) ? [scheme] : [],
    );
    return all.find((scheme) => security.some((each) => each.some((one) => one.scheme === scheme))) ?? all[0];
  }

  /** Addresses beside the base that have to be reached for credentials. */
  tokenUrls(): string[] {
    return [...new Set([...this.#sets.values()].flatMap(({ set }) => set.oauth?.tokenUrl ?? []))];
  }

  /** All sets by name, and placeholders for the fake. */
  sets(): { secrets: YamlMap; placeholders: Record<string, string> } {
    const sets = [...this.#sets.values()];
    const names = [...new Set(sets.flatMap(({ set }) => secretNames(set)))];
    return {
      secrets: Object.fromEntries(sets.map(({ name, set }) => [name, setYaml(set)])),
      placeholders: Object.fromEntries(names.map((name) => [name, `demo-${name}`])),
    };
  }

  #choose({ security, evidence }: OperationFacts, tool: string): Alternative {
    const usable = security.filter((each) => each.every(({ scheme }) => Object.hasOwn(this.#schemes, scheme)));
    const real = usable.filter((each) => each.length > 0);
    const [best, ...others] = real.toSorted((a, b) => this.#cost(a) - this.#cost(b));
    if (!best) return [];
    const isOptional = security.some((each) => each.length === 0);
    if (isOptional && !best.every(({ scheme }) => this.#needed.has(scheme))) {
      const ask = `Credentials are optional (${schemeNames(best)}); the tool sends none. Does it need them?`;
      this.#questions.add(ask, `tools.${tool}.request.secrets`, evidence);
      return [];
    }
    if (others.length > 0) {
      const ask = `${schemeNames(best)} was chosen; the document also allows ${others.map(schemeNames).join(" or ")}. Is it the one that you have?`;
      this.#questions.add(ask, `tools.${tool}.request.secrets`, evidence);
    }
    return best;
  }

  /** The simplest that works without a person first. */
  #cost(alternative: Alternative): number {
    return alternative.reduce((sum, { scheme }) => {
      const facts = this.#schemes[scheme];
      return sum + (facts ? costOf(facts) : 100);
    }, 0);
  }

  #addScheme(
    set: SecretsSpec,
    scheme: string,
    { scopes, tool, servers }: { scopes: readonly string[]; tool: string; servers: readonly string[] },
  ): void {
    const facts = Object.hasOwn(this.#schemes, scheme) ? this.#schemes[scheme] : undefined;
    if (!facts) return;
    const name = secretName(scheme);
    const about = `tools.${tool}.request.secrets`;
    switch (facts.kind) {
      case "apiKey":
        if (facts.public) set.public.push(name);
        if (facts.in === "query") set.query[facts.name] = name;
        else if (facts.in === "cookie") set.cookies = { ...set.cookies, [facts.name]: name };
        else if (/^authorization$/i.test(facts.name) && isBearerText(facts.description)) this.#bearer(set, name);
        else set.headers[facts.name] = name;
        return;
      case "bearer":
        return this.#bearer(set, name);
      case "basic":
        if (!hasAuthorization(set)) set.basic = { user: `${name}-user`, password: `${name}-password` };
        return;
      case "oauth2": {
        const { clientCredentials } = facts;
        if (clientCredentials && URL.canParse(clientCredentials.tokenUrl)) {
          const scope = scopes.length > 0 ? [...scopes] : clientCredentials.scopes.slice(0, 20);
          if (hasAuthorization(set)) return;
          const tokenUrl = this.#tokenUrl(clientCredentials.tokenUrl, about, facts.evidence);
          set.oauth = {
            grant: "client_credentials",
            tokenUrl,
            clientId: `${name}-id`,
            clientSecret: `${name}-secret`,
            ...(scope.length === 0 ? {} : { scope }),
          };
          return;
        }
        const ask = `${scheme} needs a login by a person. Store an access token as the secret "${name}", or use a refresh token?`;
        this.#questions.add(ask, about, facts.evidence);
        return this.#bearer(set, name);
      }
      case "aws-sigv4":
        if (hasAuthorization(set)) return;
        set.sign = awsSigner(facts, name, { servers, ask: (ask) => this.#questions.add(ask, about, facts.evidence) });
        return;
      case "other": {
        if (facts.unsendable !== undefined) {
          const ask = `${scheme} (${facts.type}) is not sent, because ${facts.unsendable}: the tool sends no credentials for it. Does the API also accept a key, a token or a password? Then add it under secrets. A program that opens the file can also provide a signer (sign).`;
          this.#questions.add(ask, about, facts.evidence);
          return;
        }
        const ask = `${scheme} (${facts.type}) is sent as a bearer token, because the document does not say more. Is that right?`;
        this.#questions.add(ask, about, facts.evidence);
        return this.#bearer(set, name);
      }
    }
  }

  /** The secrets of the client are sent there: an address with a part to fill in is nobody's yet. */
  #tokenUrl(address: string, about: string, evidence: string): string {
    const open = placeholderIn(address);
    if (open === undefined) return address;
    const ask = `The document does not say the whole address for access tokens: ${open} in ${address.slice(0, 200)} has to be filled in. Write it to tokenUrl of these secrets and to upstream.allow.`;
    this.#questions.add(ask, about, evidence);
    return UNKNOWN_TOKEN_URL;
  }

  #bearer(set: SecretsSpec, name: string): void {
    if (!hasAuthorization(set)) set.bearer = name;
  }

  /** A parameter that carries the same token as the scheme uses the same secret. */
  #addParameter(set: SecretsSpec, parameter: ParameterFacts, shared: string | undefined): void {
    const { name, in: place } = parameter;
    const isTaken = hasAuthorization(set);
    if (place === "header" && /^authorization$/i.test(name)) {
      if (isTaken || Object.keys(set.headers).some((header) => /^authorization$/i.test(header))) return;
      if (isBearerText(parameter.description)) set.bearer = secretName(name);
      else set.headers[name] = secretName(name);
      return;
    }
    const secret = shared !== undefined && /token/i.test(name) && set.bearer === shared ? shared : secretName(name);
    if (place === "query") set.query[name] ??= secret;
    else if (place === "header") set.headers[name] ??= secret;
    else if (place === "cookie") set.cookies = { ...set.cookies, [name]: secret };
  }

  #nameOf(chosen: Alternative, parameters: readonly Partial<ParameterFacts>[]): string {
    const parts = chosen.length > 0 ? chosen.map(({ scheme }) => scheme) : parameters.map(({ name = "" }) => name);
    const base = parts.map(secretName).join("-and-").slice(0, 60);
    const taken = new Set([...this.#sets.values()].map(({ name }) => name));
    if (!taken.has(base)) return base;
    const places = [...new Set(parameters.map((parameter) => parameter.in ?? "body"))].join("-and-");
    const scopes = chosen.flatMap((each) => each.scopes.map(secretName)).join("-");
    const longer = [base, places === "" ? "" : `in-${places}`, scopes]
      .filter((part) => part !== "")
      .join("-")
      .slice(0, 100);
    let name = longer;
    for (let more = 2; taken.has(name); more++) name = `${longer}-${more}`;
    return name;
  }
}

/** A request has one header Authorization. */
function hasAuthorization({ bearer, basic, oauth, sign }: SecretsSpec): boolean {
  return bearer !== undefined || basic !== undefined || oauth !== undefined || sign !== undefined;
}

/** Secrets in a body, by field. User names may be shown. */
function addBody(set: SecretsSpec, body: ReadonlyMap<string, BodySecret>): void {
  if (body.size === 0) return;
  set.body = Object.fromEntries([...body].map(([field, { name }]) => [field, secretName(name)]));
  set.public = [...body.values()].filter(({ isPublic }) => isPublic).map(({ name }) => secretName(name));
}

function isBearerText(description = ""): boolean {
  return /\bbearer\b/i.test(description);
}

function costOf(facts: SecuritySchemeFacts): number {
  switch (facts.kind) {
    case "apiKey":
      return { header: 1, query: 4, cookie: 6 }[facts.in];
    case "bearer":
      return 2;
    case "basic":
      return 3;
    case "oauth2":
      return facts.clientCredentials ? 5 : 8;
    case "aws-sigv4":
      return 7;
    case "other":
      return facts.unsendable === undefined ? 9 : 50;
  }
}

function schemeNames(alternative: Alternative): string {
  return alternative.map(({ scheme }) => scheme).join(" with ");
}

/** `petstore_auth` is petstore-auth: names of secrets are part of commands. */
function secretName(name: string): string {
  const joined = wordsOf(name).join("-").slice(0, 48);
  return joined === "" ? "key" : joined;
}

function setYaml({ query, headers, public: shown, sign, ...others }: SecretsSpec): YamlMap {
  return {
    ...(Object.keys(query).length === 0 ? {} : { query }),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
    ...others,
    ...(sign === undefined ? {} : { sign: signYaml(sign) }),
    ...(shown.length === 0 ? {} : { public: shown }),
  };
}

function signYaml(sign: string | SignerSpec): YamlMap[string] {
  if (typeof sign === "string") return sign;
  const { kind, ...settings } = sign;
  return { [kind]: settings };
}

/** What most documents with signatures mean that do not say it. */
const SERVICE = "execute-api";
const REGION = "us-east-1";

interface AwsPlace {
  /** The addresses of the API, which often name the service and its region. */
  servers: readonly string[];
  ask: (question: string) => void;
}

/** The signer for requests to AWS. `name` begins the names of its secrets. */
function awsSigner(
  facts: Extract<SecuritySchemeFacts, { kind: "aws-sigv4" }>,
  name: string,
  { servers, ask }: AwsPlace,
): SignerSpec {
  const host = awsHost(servers);
  const service = facts.service ?? host?.service;
  const region = facts.region ?? host?.region;
  if (service === undefined || region === undefined) {
    ask(
      `Requests are signed for the service ${service ?? SERVICE} in ${region ?? REGION}, because the document does not say which. Is that right?`,
    );
  }
  return {
    kind: "aws-sigv4",
    service: service ?? SERVICE,
    region: region ?? REGION,
    accessKey: `${name}-access-key`,
    secretKey: `${name}-secret-key`,
    ...(facts.hasSession ? { sessionToken: `${name}-session-token` } : {}),
  };
}

/** Service and region of an address of AWS: `abc.execute-api.eu-west-1.amazonaws.com`. */
function awsHost(servers: readonly string[]): { service: string; region: string } | undefined {
  for (const url of servers) {
    const host = URL.canParse(url) ? new URL(url).hostname : "";
    const [, service, region] =
      /(?:^|\.)([a-z0-9-]+)\.([a-z]{2}(?:-[a-z]+)+-\d)\.amazonaws\.com(?:\.cn)?$/.exec(host) ?? [];
    if (service !== undefined && region !== undefined) return { service, region };
  }
  return undefined;
}
