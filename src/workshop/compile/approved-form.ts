import { isRecord } from "../../json/is-record.ts";
import { sha256 } from "../../text/digest.ts";
import type {
  AnyShape,
  ConfirmSpec,
  DocumentSpec,
  ErrorSpec,
  FakeSpec,
  FakeToolSpec,
  FieldSpec,
  HmacSignerSpec,
  ListShape,
  MapShape,
  NextPage,
  ObjectShape,
  Parameter,
  PagingSpec,
  RequestSpec,
  RuleSpec,
  ScalarShape,
  SecretsSpec,
  SettingSpec,
  Shape,
  SignerSpec,
  StepSpec,
  StepsResponseSpec,
  ToolBasics,
  ToolFile,
  ToolSpec,
  TypeSpec,
  UnionShape,
  UpstreamOAuthSpec,
  UpstreamSpec,
} from "../file/model/tool-file.ts";
import type { CompiledApi } from "./compile.ts";

/**
 * The form in which a tool file is approved, kept in locks and published: its names and their order never change, whatever
 * the program calls its values. A hash covers its text, so a member of the model that becomes another one is translated
 * here, and a new one is absent if it has its default. A member that is missing here does not compile: it would be outside
 * of the approval.
 */
type Approved<T> = (value: T) => unknown;
type Members<T> = { readonly [K in keyof T]-?: typeof AS_IT_IS | Approved<Exclude<T[K], undefined>> };

/** Single values, and those that authors write freely. */
const AS_IT_IS = "as it is";

/** Members in this order, as far as they are there. */
function inOrder<T extends object>(members: Members<T>): Approved<T> {
  const all = Object.entries<unknown>({ ...members });
  return (value) => {
    const given = new Map<string, unknown>(Object.entries(value));
    const written: [string, unknown][] = [];
    for (const [name, change] of all) {
      const member = given.get(name);
      if (member === undefined) continue;
      // The change of a member is for the type of that member.
      written.push([name, typeof change === "function" ? (change as Approved<unknown>)(member) : member]);
    }
    return Object.fromEntries(written);
  };
}

function eachOf<T>(change: Approved<T>): Approved<readonly T[]> {
  return (values) => values.map(change);
}

function byName<T>(change: Approved<T>): Approved<Readonly<Record<string, T>>> {
  return (values) => Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}

const SHAPES: { readonly [K in Shape["kind"]]: Approved<Extract<Shape, { kind: K }>> } = {
  scalar: inOrder<ScalarShape>({
    kind: AS_IT_IS,
    type: AS_IT_IS,
    minLength: AS_IT_IS,
    maxLength: AS_IT_IS,
    pattern: AS_IT_IS,
    minimum: AS_IT_IS,
    maximum: AS_IT_IS,
    exclusiveMinimum: AS_IT_IS,
    exclusiveMaximum: AS_IT_IS,
    multipleOf: AS_IT_IS,
    enum: AS_IT_IS,
    format: AS_IT_IS,
    exact: AS_IT_IS,
    codes: AS_IT_IS,
    decimals: AS_IT_IS,
    whitespace: AS_IT_IS,
  }),
  object: inOrder<ObjectShape>({ kind: AS_IT_IS, type: AS_IT_IS }),
  list: inOrder<ListShape>({
    kind: AS_IT_IS,
    of: shape,
    minItems: AS_IT_IS,
    maxItems: AS_IT_IS,
    uniqueItems: AS_IT_IS,
    keepEmpty: AS_IT_IS,
  }),
  map: inOrder<MapShape>({ kind: AS_IT_IS, of: shape, minEntries: AS_IT_IS, maxEntries: AS_IT_IS }),
  union: inOrder<UnionShape>({
    kind: AS_IT_IS,
    of: (of) => of.map(shape),
    discriminator: inOrder<NonNullable<UnionShape["discriminator"]>>({ member: AS_IT_IS, values: AS_IT_IS }),
  }),
  any: inOrder<AnyShape>({ kind: AS_IT_IS, only: AS_IT_IS, schema: AS_IT_IS }),
};

function shape(value: Shape): unknown {
  // Each kind has the form of its own.
  return (SHAPES[value.kind] as Approved<Shape>)(value);
}

const FIELD = inOrder<FieldSpec>({
  description: AS_IT_IS,
  wire: AS_IT_IS,
  shape: shape,
  nullable: AS_IT_IS,
  side: AS_IT_IS,
  optional: AS_IT_IS,
  hidden: AS_IT_IS,
  default: AS_IT_IS,
  const: AS_IT_IS,
  value: AS_IT_IS,
  evidence: AS_IT_IS,
});

const RULE = inOrder<RuleSpec>({ that: AS_IT_IS, say: AS_IT_IS, evidence: AS_IT_IS });

const TYPE = inOrder<TypeSpec>({
  description: AS_IT_IS,
  xml: inOrder<TypeSpec["xml"]>({ element: AS_IT_IS, namespace: AS_IT_IS }),
  fields: byName(FIELD),
  rules: eachOf(RULE),
  additional: shape,
  union: shape,
  evidence: AS_IT_IS,
});

/** Where a type has its additional members from one that it includes, they stand last. */
function type(value: TypeSpec): unknown {
  const names = Object.keys(value);
  const { additional, ...rest } = value;
  const isInherited = names.includes("evidence") && names.indexOf("additional") > names.indexOf("evidence");
  if (additional === undefined || !isInherited) return TYPE(value);
  return { ...Object(TYPE(rest)), additional: shape(additional) } as unknown;
}

const UPSTREAM = inOrder<UpstreamSpec>({ base: AS_IT_IS, allow: AS_IT_IS, timeoutMs: AS_IT_IS });

const DOCUMENT = inOrder<DocumentSpec>({ file: AS_IT_IS, sha256: AS_IT_IS, title: AS_IT_IS, source: AS_IT_IS });

const AWS = inOrder<Exclude<SignerSpec, HmacSignerSpec>>({
  kind: AS_IT_IS,
  service: AS_IT_IS,
  region: AS_IT_IS,
  accessKey: AS_IT_IS,
  secretKey: AS_IT_IS,
  sessionToken: AS_IT_IS,
});

const HMAC = inOrder<HmacSignerSpec>({
  kind: AS_IT_IS,
  algorithm: AS_IT_IS,
  key: AS_IT_IS,
  id: AS_IT_IS,
  text: AS_IT_IS,
  encoding: AS_IT_IS,
  headers: AS_IT_IS,
});

const OAUTH = inOrder<UpstreamOAuthSpec>({
  grant: AS_IT_IS,
  tokenUrl: AS_IT_IS,
  clientId: AS_IT_IS,
  clientSecret: AS_IT_IS,
  refreshToken: AS_IT_IS,
  scope: AS_IT_IS,
  audience: AS_IT_IS,
  client: AS_IT_IS,
});

const SECRETS = inOrder<SecretsSpec>({
  query: AS_IT_IS,
  headers: AS_IT_IS,
  bearer: AS_IT_IS,
  basic: inOrder<NonNullable<SecretsSpec["basic"]>>({ user: AS_IT_IS, password: AS_IT_IS }),
  cookies: AS_IT_IS,
  body: AS_IT_IS,
  oauth: OAUTH,
  public: AS_IT_IS,
  sign: (sign) => (typeof sign === "string" ? sign : sign.kind === "hmac" ? HMAC(sign) : AWS(sign)),
});

const SETTING = inOrder<SettingSpec>({
  description: AS_IT_IS,
  shape: shape,
  default: AS_IT_IS,
  example: AS_IT_IS,
  evidence: AS_IT_IS,
});

const PARAMETER: Approved<Parameter> = (parameter) =>
  typeof parameter === "object" && "field" in parameter
    ? { field: parameter.field, style: parameter.style }
    : parameter;

const PART = inOrder<NonNullable<RequestSpec["parts"]>[string]>({
  style: AS_IT_IS,
  contentType: AS_IT_IS,
  fileName: AS_IT_IS,
});

const REQUEST = inOrder<RequestSpec>({
  method: AS_IT_IS,
  base: AS_IT_IS,
  path: AS_IT_IS,
  query: byName(PARAMETER),
  headers: byName(PARAMETER),
  cookies: byName(PARAMETER),
  secrets: AS_IT_IS,
  body: AS_IT_IS,
  contentType: AS_IT_IS,
  bodyOptional: AS_IT_IS,
  parts: byName(PART),
  accept: AS_IT_IS,
});

const NEXT: { readonly [K in NextPage["kind"]]: Approved<Extract<NextPage, { kind: K }>> } = {
  cursor: inOrder<Extract<NextPage, { kind: "cursor" }>>({ kind: AS_IT_IS, from: AS_IT_IS, to: AS_IT_IS }),
  page: inOrder<Extract<NextPage, { kind: "page" }>>({ kind: AS_IT_IS, to: AS_IT_IS, first: AS_IT_IS, size: AS_IT_IS }),
  offset: inOrder<Extract<NextPage, { kind: "offset" }>>({ kind: AS_IT_IS, to: AS_IT_IS, size: AS_IT_IS }),
  link: inOrder<Extract<NextPage, { kind: "link" }>>({ kind: AS_IT_IS, from: AS_IT_IS }),
};

const PAGING = inOrder<PagingSpec>({
  items: AS_IT_IS,
  next: (next) => (NEXT[next.kind] as Approved<NextPage>)(next),
  last: AS_IT_IS,
  maxPages: AS_IT_IS,
  maxItems: AS_IT_IS,
});

const STEP = inOrder<StepSpec>({
  call: AS_IT_IS,
  arguments: AS_IT_IS,
  when: AS_IT_IS,
  each: inOrder<NonNullable<StepSpec["each"]>>({ list: AS_IT_IS, as: AS_IT_IS, max: AS_IT_IS }),
  until: inOrder<NonNullable<StepSpec["until"]>>({ that: AS_IT_IS, everyMs: AS_IT_IS, atMostMs: AS_IT_IS }),
});

const RESPONSE = inOrder<StepsResponseSpec>({
  as: AS_IT_IS,
  headers: AS_IT_IS,
  type: AS_IT_IS,
  text: AS_IT_IS,
  sourcePayload: AS_IT_IS,
  unknown: AS_IT_IS,
  give: AS_IT_IS,
});

const ERROR = inOrder<ErrorSpec>({ status: AS_IT_IS, that: AS_IT_IS, say: AS_IT_IS, try: AS_IT_IS, outcome: AS_IT_IS });

const CONFIRM = inOrder<ConfirmSpec>({
  field: AS_IT_IS,
  call: AS_IT_IS,
  arguments: AS_IT_IS,
  find: AS_IT_IS,
  actual: AS_IT_IS,
  ask: AS_IT_IS,
  gone: AS_IT_IS,
});

/** What one is like is written out before it is read. */
const EXAMPLE = inOrder<Omit<ToolBasics["examples"][number], "like">>({ title: AS_IT_IS, arguments: AS_IT_IS });

const LIMITS = inOrder<ToolBasics["limits"]>({
  timeoutMs: AS_IT_IS,
  retries: AS_IT_IS,
  resultBytes: AS_IT_IS,
  downloadBytes: AS_IT_IS,
});

const TOOL = inOrder<ToolSpec>({
  title: AS_IT_IS,
  description: AS_IT_IS,
  effect: AS_IT_IS,
  meta: inOrder<ToolBasics["meta"]>({ owner: AS_IT_IS, category: AS_IT_IS, safety: AS_IT_IS }),
  input: AS_IT_IS,
  unknown: AS_IT_IS,
  request: REQUEST,
  paging: PAGING,
  steps: byName(STEP),
  response: RESPONSE,
  errors: eachOf(ERROR),
  outcomeUnknown: AS_IT_IS,
  limits: LIMITS,
  confirm: CONFIRM,
  examples: eachOf(EXAMPLE),
  checks: AS_IT_IS,
  evidence: AS_IT_IS,
  offer: AS_IT_IS,
});

const ANSWER = inOrder<FakeToolSpec["answers"][number]>({
  status: AS_IT_IS,
  give: AS_IT_IS,
  when: AS_IT_IS,
  remember: AS_IT_IS,
});

const FAKE_TOOL = inOrder<FakeToolSpec>({ refused: ANSWER, invalid: ANSWER, answers: eachOf(ANSWER) });

const FAKE = inOrder<FakeSpec>({ secrets: AS_IT_IS, tables: AS_IT_IS, tools: byName(FAKE_TOOL) });

const FILE = inOrder<ToolFile>({
  nexus: AS_IT_IS,
  api: AS_IT_IS,
  title: AS_IT_IS,
  description: AS_IT_IS,
  version: AS_IT_IS,
  documents: byName(DOCUMENT),
  upstream: UPSTREAM,
  namespaces: AS_IT_IS,
  secrets: byName(SECRETS),
  settings: byName(SETTING),
  types: byName(type),
  tools: byName(TOOL),
  fake: FAKE,
  questions: AS_IT_IS,
});

/** What is approved of an API, as locks and published versions keep it. */
export function approvedForm({ format, file, tools, citations, hash }: CompiledApi): unknown {
  return { format, file: FILE(file), tools, citations, hash };
}

/** The API that was kept in this form; undefined if its hash is not that of its content. */
export function fromApprovedForm(kept: unknown): CompiledApi | undefined {
  if (!isRecord(kept) || kept["hash"] !== hashOfForm(kept)) return undefined;
  // It is what was approved, so this form; today the values of the program have the same names.
  return kept as unknown as CompiledApi;
}

/** The approved hash: of everything but itself. */
export function hashOf(api: Omit<CompiledApi, "hash">): string {
  return hashOfForm({ ...api, file: FILE(api.file) });
}

function hashOfForm({ format, file, tools, citations }: Readonly<Record<string, unknown>>): string {
  return `sha256:${sha256(JSON.stringify({ format, file, tools, citations }))}`;
}
