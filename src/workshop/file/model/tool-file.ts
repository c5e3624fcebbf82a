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
}

/** A document the file was written from, beside it, and the hash of the text that was read. */
export interface DocumentSpec {
  file: string;
  sha256: string;
  title?: string;
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
  /** Names whose values may be shown, such as user names. All others are masked everywhere. */
  public: string[];
  /** The name of a signer that the program provides; it receives the finished request and adds to it. */
  sign?: string;
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
  shape: ScalarShape | ObjectShape | ListShape;
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

export interface ScalarShape {
  kind: "scalar";
  /** `presence`: true if an empty element exists. `date`: YYYY-MM-DD. `datetime`: ISO with optional zone. */
  type: "string" | "integer" | "number" | "boolean" | "date" | "datetime" | "presence";
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  enum?: (string | number)[];
  /** The upstream codes and their names here. Inputs and outputs have only the names. */
  codes?: Record<string, string>;
  /** A number is written with exactly this many decimals. */
  decimals?: number;
  /** `collapse`: runs of blanks in answers become one, and ends are trimmed; default: text is kept. */
  whitespace: "keep" | "collapse";
}

export interface ObjectShape {
  kind: "object";
  /** A name in `types`. */
  type: string;
}

export interface ListShape {
  kind: "list";
  of: ScalarShape | ObjectShape;
  minItems?: number;
  maxItems?: number;
  /** XML: the elements around the items are written even if there are none. */
  keepEmpty: boolean;
}

export interface ToolSpec {
  title: string;
  description: string;
  effect: Effect;
  meta: { owner?: string; category?: string; safety?: string };
  /** A name in `types`. */
  input: string;
  /** What happens to unknown arguments. */
  unknown: "reject" | "drop";
  request: RequestSpec;
  response: ResponseSpec;
  /** In order; the first match describes the failure. */
  errors: ErrorSpec[];
  /** For a write with unknown outcome: how to find out. A template. */
  outcomeUnknown?: string;
  limits: { timeoutMs: number; retries: number; resultBytes: number };
  /** Compares the caller's expectation with a new call before anything is sent. */
  confirm?: ConfirmSpec;
  examples: { title?: string; arguments: Record<string, unknown> }[];
  checks: CheckSpec[];
  evidence: string[];
}

export interface RequestSpec {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Relative to `upstream.base`; `{field}` is replaced by an input field, percent-encoded. */
  path: string;
  /**
   * The input field by parameter. A field in path, query or headers is in the body only if it has an explicit `wire`.
   */
  query: Record<string, { field: string; style: "repeat" | "comma" }>;
  headers: Record<string, string>;
  /** A name in `secrets`. */
  secrets?: string;
  /** How the rest of the input is sent. */
  body?: "xml" | "json" | "form";
}

export interface ResponseSpec {
  as: "xml" | "json" | "text" | "none";
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

export interface ConfirmSpec {
  /** The input field with the caller's expectation, a number. It is sent with the confirmed value. */
  field: string;
  /** A tool of this file with the effect `read`. */
  call: string;
  /** Its arguments: values, with `= expression` over the input. */
  arguments: Record<string, unknown>;
  /** An expression over `answer` and `input`: the caller's choice in the answer, or null. */
  find: string;
  /** An expression over `found`, `answer` and `input`: the current value. */
  actual: string;
  /** Templates with `expected`, `actual`, `found`, `input`. */
  ask: string;
  gone: string;
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
