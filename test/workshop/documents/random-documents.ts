import { stringify } from "yaml";

/** Numbers from a seed, so that a failure can be repeated. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed * 2_654_435_761) >>> 0;
  }

  /** From 0 to below `limit`. */
  below(limit: number): number {
    this.#state = (Math.imul(this.#state ^ (this.#state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) % limit;
  }

  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
}

const SCHEMA = {
  type: "object",
  required: ["id"],
  properties: {
    id: { type: "integer", format: "int64", minimum: 1, exclusiveMinimum: true },
    name: { type: "string", pattern: "^[a-z]+$", nullable: true, enum: ["a", null] },
    tags: { type: "array", items: { type: "string" }, uniqueItems: true },
    next: { $ref: "#/components/schemas/Pet" },
    pair: { type: "array", items: [{ type: "string" }, { type: "null" }], additionalItems: false },
    owner: {
      oneOf: [{ $ref: "#/components/schemas/A" }, { $ref: "#/components/schemas/B" }],
      discriminator: { propertyName: "kind", mapping: { a: "A", b: "#/components/schemas/B" } },
    },
  },
  additionalProperties: { type: ["string", "null"] },
};

const OPERATION = {
  operationId: "op",
  tags: ["pets"],
  parameters: [
    { name: "id", in: "path", required: true, schema: { type: "string" } },
    { name: "q", in: "query", style: "deepObject", explode: true, schema: { type: "object" } },
    { name: "h", in: "header", content: { "application/json": { schema: {} } } },
    { $ref: "#/components/parameters/P" },
  ],
  requestBody: {
    content: {
      "application/json": { schema: { $ref: "#/components/schemas/Pet" }, example: { id: 1 } },
      "multipart/form-data": { schema: SCHEMA, encoding: { tags: { style: "form", explode: false } } },
    },
  },
  responses: {
    200: {
      description: "ok",
      headers: { N: { schema: { type: "integer" } } },
      content: { "application/json": { schema: SCHEMA } },
    },
    default: { $ref: "#/components/responses/R" },
  },
  security: [{ key: [], oauth: ["read"] }, {}],
  callbacks: { done: { "{$url}": { post: {} } } },
  servers: [{ url: "https://{h}.example/", variables: { h: { default: "a", enum: ["a"] } } }],
};

const COMPONENTS = {
  schemas: {
    Pet: SCHEMA,
    A: { allOf: [{ $ref: "#/components/schemas/Pet" }, { properties: { kind: { const: "a" } } }] },
    B: { $ref: "#/components/schemas/A", description: "beside", $anchor: "b", $defs: { C: { not: {} } } },
  },
  parameters: { P: { name: "p", in: "cookie", schema: { $ref: "#b" } } },
  responses: { R: { description: "r", content: { "text/plain": {} } } },
  securitySchemes: {
    key: { type: "apiKey", in: "header", name: "K" },
    oauth: { type: "oauth2", flows: { clientCredentials: { tokenUrl: "https://a.example", scopes: { read: "" } } } },
  },
};

const info = { title: "T", version: "1" };
const three = (openapi: string) => ({
  openapi,
  info,
  servers: [{ url: "https://a.example" }],
  tags: [{ name: "pets" }],
  paths: { "/a/{id}": { summary: "s", get: OPERATION, put: { $ref: "#/paths/x" } }, "/b": { post: {} } },
  components: COMPONENTS,
});

/** Small valid documents of each version. */
const VALID: readonly Record<string, unknown>[] = [
  {
    swagger: "2.0",
    info,
    host: "a.example",
    basePath: "/v1",
    schemes: ["https"],
    consumes: ["application/json"],
    securityDefinitions: { o: { type: "oauth2", flow: "application", tokenUrl: "https://a.example", scopes: {} } },
    paths: {
      "/a/{id}": {
        parameters: [{ name: "id", in: "path", type: "string", required: true }],
        get: {
          parameters: [{ name: "l", in: "query", type: "array", items: { type: "string" }, collectionFormat: "multi" }],
        },
        post: {
          consumes: ["multipart/form-data"],
          parameters: [
            { name: "f", in: "formData", type: "file" },
            { name: "n", in: "formData", type: "integer" },
          ],
          responses: { 200: { schema: { $ref: "#/definitions/Pet" }, examples: { "application/json": {} } } },
        },
        put: { parameters: [{ name: "b", in: "body", schema: { $ref: "#/definitions/Pet" } }] },
      },
    },
    definitions: { Pet: { ...SCHEMA, discriminator: "kind", xml: { name: "pet", wrapped: true } } },
  },
  three("3.0.3"),
  { ...three("3.1.0"), webhooks: { w: { post: OPERATION } } },
  {
    ...three("3.2.0"),
    paths: { "/q": { query: OPERATION, additionalOperations: { LINK: {} } } },
  },
  {
    info: { name: "C", schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json" },
    auth: {
      type: "apikey",
      apikey: [
        { key: "key", value: "k" },
        { key: "in", value: "query" },
      ],
    },
    variable: [{ key: "base", value: "https://a.example" }],
    item: [
      {
        name: "folder",
        item: [
          {
            name: "get one",
            request: {
              method: "GET",
              header: [{ key: "X", value: "<string>" }],
              url: {
                raw: "{{base}}/a/:id?q=<integer>",
                host: ["{{base}}"],
                path: ["a", ":id"],
                query: [{ key: "q", value: "<integer>" }],
                variable: [{ key: "id", value: "1" }],
              },
            },
            response: [
              { name: "ok", code: 200, header: [{ key: "Content-Type", value: "application/json" }], body: '{"a":1}' },
            ],
          },
          {
            name: "make",
            request: { method: "POST", body: { mode: "raw", raw: '{"a":"<string>"}' }, url: "{{base}}/a" },
          },
        ],
      },
    ],
  },
];

const ODD: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1e308,
  0.1,
  "",
  "x",
  "{}",
  "#",
  "#/",
  "#/paths",
  "#/components/schemas/Pet",
  "../x.yaml#/a",
  "https://other.example/x",
  "%zz",
  "\u0000",
  "__proto__",
  "constructor",
  [],
  {},
  [[]],
  [null],
  { $ref: "#" },
  { $ref: 7 },
  { $ref: "#/components/schemas/A/allOf/0/properties/id" },
  { $ref: "" },
  { type: "array" },
  { type: [] },
  { allOf: [] },
  "9223372036854775807",
  { "": "" },
  { "~1": { "/": 1 } },
];

const NAMES = [
  "type",
  "items",
  "properties",
  "$ref",
  "allOf",
  "oneOf",
  "anyOf",
  "enum",
  "const",
  "required",
  "additionalProperties",
  "not",
  "parameters",
  "in",
  "name",
  "schema",
  "content",
  "requestBody",
  "responses",
  "security",
  "servers",
  "url",
  "get",
  "post",
  "query",
  "paths",
  "/a/{id}/{",
  "/x?y=1#z",
  "discriminator",
  "mapping",
  "pattern",
  "$id",
  "$anchor",
  "$dynamicRef",
  "prefixItems",
  "default",
  "example",
  "examples",
  "item",
  "request",
  "body",
  "mode",
  "raw",
  "auth",
  "variable",
  "header",
  "__proto__",
  "constructor",
  "toString",
];

/** A valid document with a few random changes, as JSON or YAML text, which may also be changed. */
export function randomDocument(random: Random): string {
  const root = structuredClone(random.below(20) === 0 ? randomTree(random, 5) : random.of(VALID));
  for (let changes = random.below(6); changes > 0; changes--) change(root, random);
  const text = random.below(8) === 0 ? stringify(root, { aliasDuplicateObjects: false }) : JSON.stringify(root);
  return random.below(30) === 0 ? scrambled(text, random) : text;
}

function randomTree(random: Random, depth: number): unknown {
  const kind = depth === 0 ? 0 : random.below(4);
  if (kind === 0) return structuredClone(random.of(ODD));
  if (kind === 1) return Array.from({ length: random.below(4) }, () => randomTree(random, depth - 1));
  const entries = Array.from(
    { length: random.below(6) },
    () => [random.of(NAMES), randomTree(random, depth - 1)] as const,
  );
  return { openapi: "3.1.0", ...Object.fromEntries(entries) };
}

function change(root: unknown, random: Random): void {
  let parent = root;
  for (let steps = 1 + random.below(9); steps > 0; steps--) {
    if (typeof parent !== "object" || parent === null) return;
    const target = parent as Record<string, unknown>;
    const names = Object.keys(target);
    const name = names.length > 0 ? random.of(names) : random.of(NAMES);
    const next = Object.hasOwn(target, name) ? target[name] : null;
    if (steps > 1 && typeof next === "object" && next !== null) {
      parent = next;
      continue;
    }
    const action = random.below(5);
    if (action === 0) delete target[name];
    else if (action === 1) target[random.of(NAMES)] = structuredClone(next);
    else if (action === 2) target[name] = randomTree(random, 3);
    else target[name] = structuredClone(random.of(ODD));
    return;
  }
}

function scrambled(text: string, random: Random): string {
  const at = random.below(text.length + 1);
  const inserted = random.of([
    "",
    "{",
    "}",
    "[",
    ": ",
    "\n",
    "\n  ",
    "- ",
    "&a ",
    "*a",
    "\u0000",
    '"',
    "\\",
    "|\n",
    "!!x ",
    "---\n",
    "\t",
  ]);
  return text.slice(0, at) + inserted + text.slice(at + random.below(5));
}
