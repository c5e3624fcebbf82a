/** The effect of a call: it determines annotations, retries and consent. */
export type Effect = "read" | "write" | "destructive";

/**
 * A tool file after reading: every name resolved, every default filled in, every mistake already reported. Plain JSON, in
 * the order of the file. What is compiled, approved, run and faked is this and nothing else.
 *
 * Its hash is what is approved. A member that the grammar gains later is therefore absent where it has its default: files that
 * do not use it keep their approval.
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
  /** What every user gives for himself and nobody has to hide. Values are in the server's entry: they are not approved. */
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
  /** Addresses that requests may begin with; nothing else is ever reached. */
  allow: string[];
  timeoutMs: number;
}

/** Credentials that one or more requests carry. Only names stand here; values are in the secret store as `<api>.<name>`. */
export interface SecretsSpec {
  /** By query parameter, header and so on: the name of the secret. `pin-{hotelId}` takes an argument into the name. */
  query: Record<string, string>;
  headers: Record<string, string>;
  bearer?: string;
  basic?: { user: string; password: string };
  /** Names whose values may be seen: user names and the like. All others are hidden wherever they turn up. */
  public: string[];
  /** The name of a signer that the program provides; it gets the finished request and adds to it. */
  sign?: string;
}

/** A text that the server's entry gives; computed fields of inputs see it as `settings.name`. */
export interface SettingSpec {
  description?: string;
  shape: ScalarShape;
  /** Without it, the entry has to give a value. */
  default?: string;
  /** What the fake and the checks use. */
  example?: string;
  evidence: string[];
}

export interface TypeSpec {
  description?: string;
  /** The element this type is when it is a whole document. Children inherit the namespace; none unless given. */
  xml: { element?: string; namespace?: string };
  fields: Record<string, FieldSpec>;
  rules: RuleSpec[];
}

/** A condition on a value of the type, beyond what each field says by itself. */
export interface RuleSpec {
  /** An expression over the fields; the rule is broken where it is false. Not judged while a field it names is absent. */
  that: string;
  /** What a caller is told. */
  say: string;
  evidence: string[];
}

export interface FieldSpec {
  description?: string;
  /**
   * Where the value stands upstream; false: it is not sent. XML: a path from the element of the type,
   * `RoomStays/RoomStay/@Count`, `.` for the element's own text, `[]` after the step that repeats (`members/member[]/@id`),
   * `[@Code=8]` for an element that is told from its siblings by a constant. JSON and forms: a member name, or a path
   * of names with dots.
   */
  wire: string | false;
  shape: ScalarShape | ObjectShape | ListShape;
  optional: boolean;
  /** Not in the tool's input or output: read for rules and errors, or sent by itself. */
  hidden: boolean;
  /** Used where the caller gives none. */
  default?: unknown;
  /** Always this; such a field is hidden in inputs. */
  const?: string | number | boolean;
  /** An expression that computes it; such a field is no input. In outputs it is shown, and has no wire. */
  value?: string;
  evidence: string[];
}

export interface ScalarShape {
  kind: "scalar";
  /** `presence`: true where an empty element is there. `date`: YYYY-MM-DD. `datetime`: ISO, zone optional. */
  type: "string" | "integer" | "number" | "boolean" | "date" | "datetime" | "presence";
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minimum?: number;
  maximum?: number;
  enum?: (string | number)[];
  /** What upstream writes, and what it is called here. Inputs and outputs show the names alone. */
  codes?: Record<string, string>;
  /** A number is written with exactly so many decimals. */
  decimals?: number;
  /** `collapse` (runs of blanks become one, ends trimmed) in answers; text is kept as it is unless given. */
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
  /** XML: the elements around the items are written although there are none. */
  keepEmpty: boolean;
}

export interface ToolSpec {
  title: string;
  description: string;
  effect: Effect;
  meta: { owner?: string; category?: string; safety?: string };
  /** A name in `types`. */
  input: string;
  /** What happens to arguments that the input does not know. */
  unknown: "reject" | "drop";
  request: RequestSpec;
  response: ResponseSpec;
  /** In order; the first that fits says what went wrong. */
  errors: ErrorSpec[];
  /** A write whose outcome nobody knows: how to find out. A template. */
  outcomeUnknown?: string;
  limits: { timeoutMs: number; retries: number; resultBytes: number };
  /** Checks what the caller expects against a fresh call before anything is sent. */
  confirm?: ConfirmSpec;
  examples: { title?: string; arguments: Record<string, unknown> }[];
  checks: CheckSpec[];
  evidence: string[];
}

export interface RequestSpec {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Relative to `upstream.base`; `{field}` takes a field of the input, percent-encoded. */
  path: string;
  /** By parameter: the field of the input. A field that path, query or headers take is in the body only if it has a written `wire`. */
  query: Record<string, { field: string; style: "repeat" | "comma" }>;
  headers: Record<string, string>;
  /** A name in `secrets`. */
  secrets?: string;
  /** How the rest of the input is sent. */
  body?: "xml" | "json" | "form";
}

export interface ResponseSpec {
  as: "xml" | "json" | "text" | "none";
  /** A name in `types`; none for text and nothing. */
  type?: string;
  /** A template for the first line of the result's text. */
  text: string;
  /** The caller may ask for the raw answer. */
  sourcePayload: boolean;
  /** What happens to members of a JSON answer that the type does not name; absent: they are ignored. */
  unknown?: "keep" | "report";
}

export interface ErrorSpec {
  /** Statuses it is about; any when empty. */
  status: number[];
  /** An expression over the decoded answer, with `status`. */
  that?: string;
  /** A template: what happened. */
  say: string;
  /** A template: what to try. */
  try?: string;
  /**
   * Of a write: whether upstream surely did nothing, so that the same call may be made again, or nobody knows. Unless
   * given, a 4xx and what `that` recognised below 500 are refusals.
   */
  outcome?: "refused" | "unknown";
}

export interface ConfirmSpec {
  /** The field of the input that says what the caller expects; a number. It is sent with the confirmed value. */
  field: string;
  /** A tool of this file with the effect `read`. */
  call: string;
  /** Its arguments: values, with `= expression` over the input. */
  arguments: Record<string, unknown>;
  /** An expression over `answer` and `input`: what the caller chose in the answer, or nothing. */
  find: string;
  /** An expression over `found`, `answer` and `input`: what is true now. */
  actual: string;
  /** Templates with `expected`, `actual`, `found`, `input`. */
  ask: string;
  gone: string;
}

/** A call that must work against the fake. */
export interface CheckSpec {
  name: string;
  call: Record<string, unknown>;
  /** Part of what must come; `error` is text that the failure must contain, `structuredContent` is compared member by member. */
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

/** What the fake of the upstream knows, beyond what the types say. */
export interface FakeSpec {
  /** Credentials it takes: placeholders, by name as in `secrets`. */
  secrets: Record<string, string>;
  /** Data that answers are made of. */
  tables: Record<string, Record<string, unknown>[]>;
  tools: Record<string, FakeToolSpec>;
}

export interface FakeToolSpec {
  /** To wrong credentials; `give` is a value of the response type with `= expression`s. */
  refused?: FakeAnswer;
  /** To a request that breaks the rules; `problem` is what is wrong. */
  invalid?: FakeAnswer;
  /** In order; the first whose `when` is true. Without any, answers are made up from the types. */
  answers: (FakeAnswer & { when?: string; remember?: string })[];
}

/**
 * `give`: a value in which `= expression` is computed and `{each, as, when?, give}` makes a list. Expressions see `input`
 * (the decoded request), `problem`, the tables by name, and `seen(x)`: whether an earlier answer remembered x.
 */
export interface FakeAnswer {
  status: number;
  give: unknown;
}
