import type { Effect, ListShape, ScalarShape } from "../file/model/tool-file.ts";

/** The formats that readers know. A PDF has become text when it was loaded, with form feeds between its pages. */
export type DocumentFormat =
  | "openapi-2.0"
  | "openapi-3.0"
  | "openapi-3.1"
  | "openapi-3.2"
  | "postman-2"
  | "graphql"
  | "graphql-introspection"
  | "wsdl-1.1"
  | "curl"
  | "har"
  | ManualFormat;

/** Documents that were written for people. */
export type ManualFormat = "markdown" | "html" | "text" | "pdf";

/** What a description of an API says, whatever its format: the readers make it, and drafts are made of it. */
export interface ApiFacts {
  format: DocumentFormat;
  title: string;
  version: string;
  description?: string;
  /** In the order of the document, variables replaced by their defaults. Empty if the document names none. */
  servers: ServerFacts[];
  security: Record<string, SecuritySchemeFacts>;
  tags: { name: string; description?: string }[];
  operations: OperationFacts[];
  /** Operations that no tool can be made of; together with `operations` they are all of the document. */
  omitted: OmittedOperation[];
  /** Parts that were ignored or repaired, for the person who reviews the draft. */
  remarks: Remark[];
  /** What the document leaves open about the whole API; each becomes a question. */
  doubts?: Remark[];
}

/**
 * `<document>#<place>`: a JSON pointer (`openapi#/paths/~1pets/get`), lines (`manual#L12`, `manual#L12-L14`), or a page
 * of a PDF (`manual#P5`).
 */
export type Evidence = string;

export interface Remark {
  text: string;
  evidence: Evidence;
}

export interface ServerFacts {
  /**
   * Absolute, or relative to the address of the document. What a person has to fill in stays as the document has it, such
   * as `{subdomain}` or `YOUR-DOMAIN`.
   */
  url: string;
  description?: string;
  /** No words say that requests are sent there. */
  isGuess?: true;
  /** Variables that were replaced by their defaults. */
  variables: { name: string; value: string; choices: string[] }[];
  /** Variables without a default, which are in `url` as `{name}`. */
  open?: { name: string; choices: string[] }[];
  evidence: Evidence;
}

export type SecuritySchemeFacts = { description?: string; evidence: Evidence } & (
  | {
      kind: "apiKey";
      in: "query" | "header" | "cookie";
      name: string;
      /** Its value may be shown, such as a user name. */
      public?: true;
    }
  | { kind: "bearer" }
  | { kind: "basic" }
  | {
      kind: "oauth2";
      /** Undefined for flows that need a person. */
      clientCredentials?: { tokenUrl: string; scopes: string[] };
      /** Whether a person has to log in at least once. */
      needsPerson: boolean;
      tokenUrl?: string;
    }
  /** Signatures of AWS; `service` and `region` as far as the document says them. */
  | { kind: "aws-sigv4"; service?: string; region?: string; hasSession: boolean }
  /** `unsendable`: why requests of a tool cannot carry it. */
  | { kind: "other"; type: string; unsendable?: string }
);

/** Why an operation did not become a tool. */
export const OMISSION_REASONS = {
  "not-selected": "not selected",
  webhook: "a webhook or callback: the API sends it, clients do not",
  "unsupported-method": "its HTTP method cannot be sent",
  "unreadable-operation": "its description cannot be read",
  "uncertain-path": "its path is not complete in the description",
  "unknown-method": "the description does not say its method",
  "missing-path-parameter": "its path has a parameter that the description does not declare and that cannot be guessed",
  "unsupported-body": "its body has a media type that cannot be written",
  stream: "its answer never ends",
  "unresolved-reference": "it refers to a part that does not exist or is not loaded",
  "no-selection": "no part of its answer can be selected without further arguments",
  "too-large": "it is larger than the limits of a tool",
} as const;

export type OmissionReason = keyof typeof OMISSION_REASONS;

export interface OmittedOperation {
  /** `GET /pets/{id}` */
  key: string;
  reason: OmissionReason;
  detail?: string;
  evidence: Evidence;
}

export interface OperationFacts {
  /** `GET /pets/{id}`, unique in the document. For Postman: method and path, with a number if they repeat. */
  key: string;
  /** The operationId, or the name of a Postman request. */
  id?: string;
  method: string;
  /** The document does not say the method: it is the one of an address alone, and says nothing about the effect. */
  methodAssumed?: true;
  /** As in the document, with `{name}` for parameters. */
  path: string;
  /** Only if they differ from those of the document. */
  servers?: ServerFacts[];
  summary?: string;
  description?: string;
  tags: string[];
  deprecated: boolean;
  parameters: ParameterFacts[];
  body?: BodyFacts;
  responses: ResponseFacts[];
  /** Alternatives; each needs all of its schemes. Empty: none is needed. */
  security: { scheme: string; scopes: string[] }[][];
  /** What the document says about it; otherwise it is derived from method and name. */
  effect?: Effect;
  timeoutMs?: number;
  /** Conditions between fields of the input. */
  rules?: { that: string; say: string; evidence: Evidence }[];
  /**
   * GraphQL: the document that is sent, and the field of it. The members of `body` are its variables, and the answer has
   * the value of the field.
   */
  graphql?: { document: string; field: string };
  /** Failures beside those of `responses`. */
  errors?: ErrorFacts[];
  evidence: Evidence;
}

/** A failure that the document names. `that`: an expression over the decoded answer; `say` and `try` are templates. */
export interface ErrorFacts {
  status?: number[];
  that?: string;
  say: string;
  try?: string;
  evidence: Evidence;
}

export interface ParameterFacts {
  name: string;
  in: "path" | "query" | "header" | "cookie";
  required: boolean;
  description?: string;
  deprecated: boolean;
  schema: SchemaFacts;
  /** As OpenAPI 3 defines it, with its defaults filled in. `tabs` and `json` (a `content` parameter) are added. */
  style: "simple" | "label" | "matrix" | "form" | "spaceDelimited" | "pipeDelimited" | "deepObject" | "tabs" | "json";
  explode: boolean;
  /** Always this value, so that callers need not give it. */
  constant?: string;
  examples: unknown[];
  evidence: Evidence;
}

export interface BodyFacts {
  required: boolean;
  description?: string;
  /** In the order of the document. */
  contents: ContentFacts[];
  evidence: Evidence;
}

export interface ContentFacts {
  mediaType: string;
  /** Undefined if the document says nothing about it. */
  schema?: SchemaFacts;
  examples: unknown[];
  /** By property, for forms and multipart bodies. */
  encoding: Record<string, { contentType?: string; style?: ParameterFacts["style"]; explode?: boolean }>;
  evidence: Evidence;
}

export interface ResponseFacts {
  /** `200`, `4XX` or `default`. */
  status: string;
  description?: string;
  contents: ContentFacts[];
  headers: { name: string; description?: string; schema: SchemaFacts; evidence: Evidence }[];
  evidence: Evidence;
}

/** Limits of a value, of its length, or of how many there are. */
export type ValueLimits = Pick<ScalarShape, ScalarLimit> & Pick<ListShape, "minItems" | "maxItems">;

type ScalarLimit =
  | ("minLength" | "maxLength" | "pattern" | "format" | "decimals" | "multipleOf")
  | ("minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum");

/**
 * A schema in the words of JSON Schema 2020-12, whatever the version of its document. Shallow: inner schemas are read
 * when they are asked for, so that a document of any size costs only what is used. References are followed; the same
 * schema has the same `identity`, or else `evidence`, which is how recursion is recognised.
 */
export interface SchemaFacts extends ValueLimits {
  evidence: Evidence;
  /** Further places that it follows from. */
  also?: Evidence[];
  /** Where this use of a named schema is, if that is another place than its description. */
  usedAt?: Evidence;
  /** Where several schemas have the same evidence. */
  identity?: string;
  /** What is not certain about it; becomes a question. */
  doubt?: string;
  /** The answers to it that are known beforehand, the one that the draft has first. */
  choices?: DoubtChoice[];
  /** The codes of a table, with readable names. */
  codes?: { value: string; name: string; description?: string; evidence: Evidence }[];
  /** With `const`: callers need not give it. */
  fixed?: true;
  /** Conditions between members of an object: `{departure} > {arrival}`. */
  rules?: { that: string; say: string; evidence: Evidence }[];
  /** The name of a named schema: `Pet` of `#/components/schemas/Pet`. */
  name?: string;
  /** Empty: any. `null` is never in it: see `nullable`. */
  types: ("string" | "integer" | "number" | "boolean" | "object" | "array")[];
  nullable: boolean;
  title?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  default?: unknown;
  examples: unknown[];
  deprecated: boolean;
  readOnly: boolean;
  writeOnly: boolean;
  uniqueItems: boolean;
  minProperties?: number;
  maxProperties?: number;
  /** Of arrays; undefined: anything. */
  items?: () => SchemaFacts;
  /** Of tuples, in order. */
  prefixItems: (() => SchemaFacts)[];
  properties: ReadonlyMap<string, () => SchemaFacts>;
  required: ReadonlySet<string>;
  /** Members that are not in `properties`. `undeclared`: the document does not say. */
  additional: "undeclared" | "any" | "none" | (() => SchemaFacts);
  allOf: (() => SchemaFacts)[];
  oneOf: (() => SchemaFacts)[];
  anyOf: (() => SchemaFacts)[];
  /** `mapping`: the schema of each value; the names of the alternatives where the document gives no mapping. */
  discriminator?: { property: string; mapping: Record<string, () => SchemaFacts> };
  xml?: XmlFacts;
  /** XML: the namespace of the elements inside, empty for none; undefined: that of the element. */
  inside?: string;
  /** Groups of members of which at most one is given. */
  exclusive?: { members: string[]; isRequired: boolean; evidence: Evidence }[];
  /** Read for errors and rules, but not shown. */
  hidden?: true;
  /** A credential in a body: the operator stores it, and callers do not give it. */
  secret?: { name: string; isPublic: boolean };
  /** Keywords that none of the above holds: `not`, `if`, `patternProperties` and so on. */
  others: string[];
  /** The schema as JSON Schema 2020-12 with `$defs` for what it refers to, for what a tool file cannot express. */
  asJsonSchema: () => Record<string, unknown>;
}

/** An answer to a doubt about a field, and the members of the field that it sets. */
export interface DoubtChoice {
  answer: string;
  set: Record<string, unknown>;
}

/** How a schema is written in XML. */
export interface XmlFacts {
  name?: string;
  /** Empty for none; undefined: that of the elements around it. */
  namespace?: string;
  prefix?: string;
  attribute: boolean;
  wrapped: boolean;
  /** The elements around it, from that of the document on. */
  within?: { name: string; namespace?: string }[];
  /** It is a whole document. */
  root?: true;
  /** It is the text of the element itself. */
  text?: true;
  /** An element without content, which is there or not. */
  presence?: true;
  /** The elements around a list are written even if it has no items. */
  keepEmpty?: true;
  /** Runs of blanks in its text mean one blank. */
  collapse?: true;
  /** The values are names of types (`xsi:type`). */
  qnames?: { name: string; namespace: string }[];
}
