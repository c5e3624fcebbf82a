import type { ConfirmSpec, PagingSpec, StepSpec } from "./call-spec.ts";

/** The limit for binary answers, if a tool has none of its own. */
export const DEFAULT_DOWNLOAD_BYTES = 5 * 1024 * 1024;

/** The methods that a request may have. */
export const REQUEST_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "QUERY"] as const;

/** The effect of a call: it determines annotations, retries and consent. */
export type Effect = "read" | "write" | "destructive";

/**
 * A tool file after reading: names are resolved, defaults filled in, and problems reported. Plain JSON, in the order of the
 * file. Only this is compiled, approved, run and faked.
 *
 * The approval covers its hash. A member that is added to the format later is therefore absent if it has its default, so
 * that files without it keep their approval.
 */
export interface ToolFile {
  nexus: 1;
  /** The id of the API and of the server it becomes: as for servers, 1-32 of `[a-z0-9-]`. */
  api: string;
  title: string;
  description?: string;
  version: string;
  documents: Record<string, DocumentSpec>;
  upstream: UpstreamSpec;
  /** Prefixes that wire paths may use: `ota:POS/@xsi:type`. */
  namespaces: Record<string, string>;
  secrets: Record<string, SecretsSpec>;
  /**
   * Texts that each user sets and that are not secret. Values are in the server's entry and not part of the approval.
   */
  settings?: Record<string, SettingSpec>;
  types: Record<string, TypeSpec>;
  tools: Record<string, ToolSpec>;
  fake: FakeSpec;
  /** What a person has to decide or check; not part of the approval. */
  questions?: QuestionSpec[];
}

/** Something that the documents do not say, or that was decided without them. */
export interface QuestionSpec {
  /** The place in this file: `tools.create_pod.input`. */
  about: string;
  ask: string;
  evidence: string[];
  /** Answers that are known beforehand, and what each of them changes in this file. */
  choices?: QuestionChoice[];
}

export interface QuestionChoice {
  answer: string;
  /** The paths are written like `about`. */
  set: { path: string; value: unknown }[];
  /** Whether it is the answer that an empty one stands for. */
  default?: boolean;
}

/** A document the file was written from, beside it, and the hash of the text that was read. */
export interface DocumentSpec {
  file: string;
  sha256: string;
  title?: string;
  /** Where it was imported from. */
  source?: string;
}

export interface UpstreamSpec {
  /** Ends with a slash; paths of requests are resolved against it. */
  base: string;
  /** Prefixes for the addresses of requests; nothing else is ever reached. */
  allow: string[];
  timeoutMs: number;
}

/** Credentials that one or more requests carry. Only names stand here; values are in the secret store as `<api>.<name>`. */
export interface SecretsSpec {
  /** The name of the secret, by query parameter, header and so on. `pin-{hotelId}` has an argument in the name. */
  query: Record<string, string>;
  headers: Record<string, string>;
  bearer?: string;
  basic?: { user: string; password: string };
  cookies?: Record<string, string>;
  /** By hidden input field: its value in the body is the secret. */
  body?: Record<string, string>;
  /** Tokens from an authorization server, sent as a bearer token. */
  oauth?: UpstreamOAuthSpec;
  /** Names whose values may be shown, such as user names. All others are masked everywhere. */
  public: string[];
  /** A signer: the name of one that the program provides, or one of the built-in signers with its settings. */
  sign?: string | SignerSpec;
}

/** How an access token for the upstream is obtained. All values but the address are names of secrets or settings. */
export interface UpstreamOAuthSpec {
  grant: "client_credentials" | "refresh_token";
  /** The address of the token endpoint; must be within `upstream.allow`. */
  tokenUrl: string;
  /** Names of secrets. */
  clientId: string;
  clientSecret?: string;
  refreshToken?: string;
  scope?: string[];
  audience?: string;
  /** How the client authenticates; default: `basic`. */
  client?: "basic" | "post";
}

/** Built-in signers. They use secrets, and receive the finished request. */
export type SignerSpec =
  | { kind: "aws-sigv4"; service: string; region: string; accessKey: string; secretKey: string; sessionToken?: string }
  | HmacSignerSpec;

/** A header with an HMAC over a text that a template makes of the request. */
export interface HmacSignerSpec {
  kind: "hmac";
  algorithm: "sha256" | "sha1" | "sha512";
  /** The name of the secret. */
  key: string;
  /** The name of the secret that tells whose key it is; `id` in the templates. */
  id?: string;
  /**
   * A template with `method`, `host`, `path`, `query`, `body`, `bodyHash`, `timestamp` (seconds since 1970), `date` (as
   * in the header Date), `nonce`, `id` and `settings`.
   */
  text: string;
  /** Of the signature and of `bodyHash`. */
  encoding: "hex" | "base64";
  /** The headers that it sets; templates that also have `signature`. */
  headers: Record<string, string>;
}

/** A text from the server's entry; computed input fields use it as `settings.name`. */
export interface SettingSpec {
  description?: string;
  shape: ScalarShape;
  /** Without it, the entry must have a value. */
  default?: string;
  /** What the fake and the checks use. */
  example?: string;
  evidence: string[];
}

export interface TypeSpec {
  description?: string;
  /** The element of this type as a complete document. Children inherit the namespace; default: none. */
  xml: { element?: string; namespace?: string };
  fields: Record<string, FieldSpec>;
  rules: RuleSpec[];
  /** Members beside the fields, by their names upstream (JSON). Undefined: there are none. */
  additional?: Shape;
  /** The type is one of several others; then it has no fields. */
  union?: UnionShape;
  /** Also that of its fields and rules that have none of their own. Absent if there is none. */
  evidence?: string[];
}

/** A condition on a value of the type, beyond those of its fields. */
export interface RuleSpec {
  /** An expression over the fields; false breaks the rule. Not checked while a field that it names is absent. */
  that: string;
  /** The message for the caller. */
  say: string;
  evidence: string[];
}

export interface FieldSpec {
  description?: string;
  /**
   * The place of the value upstream; false: it is not sent. XML: a path from the element of the type,
   * `RoomStays/RoomStay/@Count`, `.` for the element's own text, `[]` after the step that repeats (`members/member[]/@id`),
   * `[@Code=8]` for an element that a constant distinguishes from its siblings. JSON and forms: a member name, or a path
   * of names with dots.
   */
  wire: string | false;
  shape: Shape;
  /** Null is a value of its own: it is sent and shown. Without it, null counts as absent. */
  nullable?: true;
  /** Only in inputs or only in outputs; default: in both. In the file `writeOnly` and `readOnly`. */
  side?: "input" | "output";
  optional: boolean;
  /** Not in the tool's input or output: read for rules and errors, or set automatically. */
  hidden: boolean;
  /** Used if the caller gives no value. */
  default?: unknown;
  /** Always this value; such a field is hidden in inputs. */
  const?: string | number | boolean;
  /** An expression that computes it; such a field is not an input. In outputs it is shown and has no wire path. */
  value?: string;
  evidence: string[];
}

/** The form of a value. */
export type Shape = ScalarShape | ObjectShape | ListShape | MapShape | UnionShape | AnyShape;

export interface ScalarShape {
  kind: "scalar";
  /**
   * `presence`: true if an empty element exists. `date`: YYYY-MM-DD. `datetime`: ISO with optional zone. `binary`: bytes
   * upstream; base64 or a data URL for callers.
   */
  type: "string" | "integer" | "number" | "boolean" | "date" | "datetime" | "presence" | "binary";
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  multipleOf?: number;
  enum?: (string | number)[];
  /** For callers and models only, such as `email` or `uri`; it is not checked. */
  format?: string;
  /** A number beyond the exact range stays exact: as text for callers, as a number upstream. */
  exact?: true;
  /** The upstream codes and their names here. Inputs and outputs have only the names. */
  codes?: Record<string, string>;
  /** A number is written with exactly this many decimals. */
  decimals?: number;
  /** `collapse`: runs of blanks in answers become one, and ends are trimmed; default: text is kept. */
  whitespace: "keep" | "collapse";
}

export interface ObjectShape {
  kind: "object";
  /** A name in `types`: of a type with fields, or of a union. */
  type: string;
}

export interface ListShape {
  kind: "list";
  of: Shape;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: true;
  /** XML: the elements around the items are written even if there are none. */
  keepEmpty: boolean;
}

/** Free names with values of one shape (JSON). */
export interface MapShape {
  kind: "map";
  of: Shape;
  minEntries?: number;
  maxEntries?: number;
}

/** One of several shapes (JSON). */
export interface UnionShape {
  kind: "union";
  of: Shape[];
  /** The member that tells which one it is, by its name upstream, and the type of each of its values. */
  discriminator?: { member: string; values: Record<string, string> };
}

/** Any JSON value, passed on unchanged. */
export interface AnyShape {
  kind: "any";
  /** Only objects. */
  only?: "object";
  /** A JSON Schema (2020-12, without references) for what this grammar cannot express. */
  schema?: Record<string, unknown>;
}

/** A tool sends one request, or calls other tools of the file in steps. */
export type ToolSpec = RequestToolSpec | StepsToolSpec;

export interface RequestToolSpec extends ToolBasics {
  request: RequestSpec;
  paging?: PagingSpec;
  steps?: never;
}

export interface StepsToolSpec extends ToolBasics {
  /** In the order in which they are made. */
  steps: Record<string, StepSpec>;
  /** Nothing is read: the result is made of the steps. `give`: a value with `= expression`s over them. */
  response: ResponseSpec & { as: "none"; give?: unknown };
  request?: never;
  paging?: never;
}

interface ToolBasics {
  title: string;
  description: string;
  effect: Effect;
  meta: { owner?: string; category?: string; safety?: string };
  /** A name in `types`. */
  input: string;
  /** What happens to unknown arguments. */
  unknown: "reject" | "drop";
  response: ResponseSpec;
  /** In order; the first match describes the failure. */
  errors: ErrorSpec[];
  /** For a write with unknown outcome: how to find out. A template. */
  outcomeUnknown?: string;
  /** `downloadBytes`: the largest binary or text answer; undefined: `DEFAULT_DOWNLOAD_BYTES`. */
  limits: { timeoutMs: number; retries: number; resultBytes: number; downloadBytes?: number };
  /** Compares the caller's expectation with a new call before anything is sent. */
  confirm?: ConfirmSpec;
  examples: { title?: string; arguments: Record<string, unknown> }[];
  checks: CheckSpec[];
  evidence: string[];
  /** `search`: found with the search tools instead of the list. `none`: only for steps of other tools. */
  offer?: "search" | "none";
}

export interface RequestSpec {
  method: (typeof REQUEST_METHODS)[number];
  /** Replaces `upstream.base` for this request; must be within `upstream.allow`. */
  base?: string;
  /**
   * Relative to the base; `{field}` is replaced by an input field, percent-encoded. As in RFC 6570, `{.field}` writes a
   * label, `{;field}` a matrix parameter, and `*` explodes lists and objects: `{;field*}`.
   */
  path: string;
  /**
   * The input field by parameter. A field in path, query or headers is in the body only if it has an explicit `wire`.
   */
  query: Record<string, { field: string; style: ParameterStyle } | FixedValue>;
  /** The name of a field, or more about it. */
  headers: Record<string, string | { field: string; style: ParameterStyle } | FixedValue>;
  cookies?: Record<string, string | { field: string; style: ParameterStyle } | FixedValue>;
  /** A name in `secrets`. */
  secrets?: string;
  /** How the rest of the input is sent. `binary` and `text`: one field with the wire `.` is the whole body. */
  body?: "xml" | "json" | "form" | "multipart" | "binary" | "text";
  /** The content type, if it is not the usual one of `body`. */
  contentType?: string;
  /** If none of its fields is given, no body is sent. */
  bodyOptional?: true;
  /** Of a form: how fields that are not single values are written; of a multipart body: the types of its parts. */
  parts?: Record<string, { style?: ParameterStyle; contentType?: string; fileName?: string }>;
  /** The Accept header, if it is not the usual one. */
  accept?: string;
}

/**
 * How a list or an object is written as a parameter. `repeat`: the name again for each item. `comma`, `space`, `pipe`,
 * `tab`: one text. `members`: each member of an object is a parameter. `pairs`: `a,1,b,2`. `deep`: `name[a]=1`. `json`:
 * JSON text.
 */
export type ParameterStyle = "repeat" | "comma" | "space" | "pipe" | "tab" | "members" | "pairs" | "deep" | "json";

/** The same in every request, or computed from `input` and `settings`; no argument is needed for it. */
export type FixedValue = { const: string } | { value: string };

export interface ResponseSpec {
  /** `binary`: kept as it came. `auto`: by its content type. */
  as: "xml" | "json" | "text" | "none" | "binary" | "auto";
  /** Response headers and the fields of `type` that they fill. */
  headers?: Record<string, string>;
  /** A name in `types`; undefined for text and empty answers. */
  type?: string;
  /** A template for the first line of the result's text. */
  text: string;
  /** Whether the caller may ask for the raw answer. */
  sourcePayload: boolean;
  /** What happens to unknown members of a JSON answer; undefined: they are ignored. */
  unknown?: "keep" | "report";
}

export interface ErrorSpec {
  /** The statuses it applies to; empty for any. */
  status: number[];
  /** An expression over the decoded answer, with `status`. */
  that?: string;
  /** A template: what happened. */
  say: string;
  /** A template: what to try. */
  try?: string;
  /**
   * For a write: `refused` if upstream certainly did nothing, so that the same call may be repeated; otherwise
   * `unknown`. Default: 4xx, and matches of `that` below 500, are refusals.
   */
  outcome?: "refused" | "unknown";
}

/** A call that must succeed against the fake. */
export interface CheckSpec {
  name: string;
  call: Record<string, unknown>;
  /**
   * A part of the expected result; `error` is a text that the failure must contain, `structuredContent` is compared
   * member by member.
   */
  expect: { error?: string; structuredContent?: unknown; text?: string };
  /** How the fake fails during this check. */
  fake?: FakeFailure;
  /** The tool whose requests fail; default: the checked one. */
  failing?: string;
}

export type FakeFailure =
  | { status: number }
  | { delayMs: number }
  | { cut: true }
  | { broken: true }
  | { offSchema: true };

/** What the fake knows in addition to the types. */
export interface FakeSpec {
  /** Placeholders for the credentials that it accepts, by their names in `secrets`. */
  secrets: Record<string, string>;
  /** Data for answers. */
  tables: Record<string, Record<string, unknown>[]>;
  tools: Record<string, FakeToolSpec>;
}

export interface FakeToolSpec {
  /** For wrong credentials; `give` is a value of the response type with `= expression`s. */
  refused?: FakeAnswer;
  /** For a request that breaks the rules; `problem` is the message. */
  invalid?: FakeAnswer;
  /** In order; the first whose `when` is true. Without any, answers are generated from the types. */
  answers: (FakeAnswer & { when?: string; remember?: string })[];
}

/**
 * `give`: a value in which `= expression` is computed and `{each, as, when?, give}` makes a list. Expressions see
 * `input` (the decoded request), `problem`, the tables by name, and `seen(x)`: whether an earlier answer remembered x.
 */
export interface FakeAnswer {
  status: number;
  give: unknown;
}
