import type { Infer } from "../../../format/form.ts";
import type { ERROR, REQUEST, RESPONSE } from "../forms/requests.ts";
import type { AWS, HMAC, OAUTH, SECRET_PLACES } from "../forms/secrets.ts";
import type { DOCUMENT, FAKE, FAKE_TOOL, QUESTION, TOOL_FILE } from "../forms/tool-file.ts";
import type { CONFIRM, WRITTEN_TOOL } from "../forms/tools.ts";

/** The limit for binary answers, if a tool has none of its own. */
export const DEFAULT_DOWNLOAD_BYTES = 5 * 1024 * 1024;

/** The methods that a request may have. */
export const REQUEST_METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "QUERY"] as const;

/** The effect of a call: it determines annotations, retries and consent. */
export type Effect = ToolBasics["effect"];

/**
 * A tool file after reading: names are resolved, defaults filled in, and problems reported. Plain JSON, in the order of the
 * file. Only this is compiled, approved, run and faked.
 */
export type ToolFile = Infer<typeof TOOL_FILE>;

/** Something that the documents do not say, or that was decided without them. */
export type QuestionSpec = Infer<typeof QUESTION>;
export type QuestionChoice = NonNullable<QuestionSpec["choices"]>[number];

/** A document the file was written from, beside it, and the hash of the text that was read. */
export type DocumentSpec = Infer<typeof DOCUMENT>;

export interface UpstreamSpec {
  /** Ends with a slash; paths of requests are resolved against it. */
  base: string;
  /** Prefixes for the addresses of requests; nothing else is ever reached. */
  allow: string[];
  timeoutMs: number;
}

/** Credentials that one or more requests carry. Only names stand here; values are in the secret store as `<api>.<name>`. */
export type SecretsSpec = Infer<typeof SECRET_PLACES>;

/** How an access token for the upstream is obtained. All values but the address are names of secrets or settings. */
export type UpstreamOAuthSpec = Infer<typeof OAUTH>;

/** Built-in signers. They use secrets, and receive the finished request. */
export type SignerSpec = ({ kind: "aws-sigv4" } & Infer<typeof AWS>) | HmacSignerSpec;

/** A header with an HMAC over a text that a template makes of the request. */
export type HmacSignerSpec = { kind: "hmac" } & Infer<typeof HMAC>;

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

/** What all tools have. */
export type ToolBasics = Omit<Infer<typeof WRITTEN_TOOL>, "request" | "paging" | "steps" | "response" | "limits"> & {
  /** `downloadBytes`: the largest binary or text answer; undefined: `DEFAULT_DOWNLOAD_BYTES`. */
  limits: { timeoutMs: number; retries: number; resultBytes: number; downloadBytes?: number };
};

export interface RequestToolSpec extends ToolBasics {
  request: RequestSpec;
  paging?: PagingSpec;
  response: ResponseSpec;
  steps?: never;
}

export interface StepsToolSpec extends ToolBasics {
  /** In the order in which they are made. */
  steps: Record<string, StepSpec>;
  response: StepsResponseSpec;
  request?: never;
  paging?: never;
}

/** Nothing is read: the result is made of the steps. `give`: a value with `= expression`s over them. */
export type StepsResponseSpec = ResponseSpec & { as: "none"; give?: unknown };

export type RequestSpec = Infer<typeof REQUEST>;

/**
 * How a list or an object is written as a parameter. `repeat`: the name again for each item. `comma`, `space`, `pipe`,
 * `tab`: one text. `members`: each member of an object is a parameter. `pairs`: `a,1,b,2`. `deep`: `name[a]=1`. `json`:
 * JSON text.
 */
export type ParameterStyle = "repeat" | "comma" | "space" | "pipe" | "tab" | "members" | "pairs" | "deep" | "json";

/** An input field by its name, or with a style; or a fixed value. */
export type Parameter = string | { field: string; style: ParameterStyle } | FixedValue;

/** The same in every request, or computed from `input` and `settings`; no argument is needed for it. */
export type FixedValue = { const: string } | { value: string };

export type ResponseSpec = Infer<typeof RESPONSE>;

/** A failure that the file describes; the first match counts. */
export type ErrorSpec = Infer<typeof ERROR>;

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
export type FakeSpec = Infer<typeof FAKE>;

export type FakeToolSpec = Infer<typeof FAKE_TOOL>;

/**
 * `give`: a value in which `= expression` is computed and `{each, as, when?, give}` makes a list. Expressions see
 * `input` (the decoded request), `problem`, the tables by name, and `seen(x)`: whether an earlier answer remembered x.
 */
export type FakeAnswer = NonNullable<FakeToolSpec["refused"]>;

/** One step of a tool: a call of another tool of the file, or several calls of it. */
export interface StepSpec {
  /** A tool of this file that has a request. */
  call: string;
  /** Values, with `= expression` over `input`, `settings` and the earlier steps by name. */
  arguments: Record<string, unknown>;
  /** An expression; if it is not true, the step is left out and its value is null. */
  when?: string;
  /** One call for each item of a list; the value of the step is the list of results. */
  each?: { list: string; as: string; max: number };
  /** Reads again until a condition on the answer is true. */
  until?: { that: string; everyMs: number; atMostMs: number };
}

/** Gathers the pages of a list into one result. */
export interface PagingSpec {
  /** The list in the answer: a field, or a path of fields with dots. */
  items: string;
  next: NextPage;
  /** An expression over the answer that is true for the last page. */
  last?: string;
  maxPages: number;
  /** No further page is requested once there are this many items. */
  maxItems?: number;
}

/**
 * How the next page is requested. `to`: the input field for it. `size`: the input field with the size of a page, or that
 * size; a shorter page is the last. `link`: an address in the answer's `Link` header, or at `from` in the answer.
 */
export type NextPage =
  | { kind: "cursor"; from: string; to: string }
  | { kind: "page"; to: string; first: number; size?: string | number }
  | { kind: "offset"; to: string; size?: string | number }
  | { kind: "link"; from?: string };

/** A call before a write, which confirms what the caller expects. */
export type ConfirmSpec = Infer<typeof CONFIRM>;
