import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { parseDocument } from "../documents/parse-document.ts";
import { draftToolFile } from "../draft/draft-tool-file.ts";
import { factsOf } from "../draft/read-document.ts";
import type { ToolFile } from "../file/model/tool-file.ts";
import { compareDocuments } from "./compare-documents.ts";

const OPENAPI = `openapi: 3.1.0
info: { title: Shop, version: "1", description: Sells pets }
servers: [{ url: "https://api.shop.example/v1" }]
components:
  securitySchemes:
    key: { type: apiKey, in: header, name: X-Key }
  parameters:
    Limit: { name: limit, in: query, description: At most so many, schema: { type: integer, maximum: 100, default: 20 } }
    Tags: { name: tags, in: query, style: form, explode: true, schema: { type: array, items: { type: string } } }
  responses:
    NotFound:
      description: Nothing there
      content: { application/json: { schema: { $ref: "#/components/schemas/Error" } } }
  schemas:
    Error: { type: object, properties: { code: { type: integer }, message: { type: string } } }
    Kind: { type: string, enum: [cat, dog] }
    Weight: { type: number, minimum: 0 }
    Pet:
      type: object
      description: An animal
      required: [name]
      properties:
        name: { type: string, description: Its name, minLength: 1, pattern: "^[A-Z]" }
        kind: { $ref: "#/components/schemas/Kind" }
        weight: { $ref: "#/components/schemas/Weight" }
        born: { type: string, format: date }
        state: { type: string, enum: [new, sold], default: new }
        owner: { oneOf: [{ type: string }, { type: object, properties: { id: { type: integer } } }] }
        more: { type: object, additionalProperties: { type: string } }
security: [{ key: [] }]
paths:
  /pets:
    get:
      operationId: listPets
      summary: Lists pets
      description: All pets that are for sale
      tags: [pets]
      parameters: [{ $ref: "#/components/parameters/Limit" }, { $ref: "#/components/parameters/Tags" }]
      responses:
        "200":
          description: The pets
          headers: { X-Total: { schema: { type: integer } } }
          content: { application/json: { schema: { type: array, items: { $ref: "#/components/schemas/Pet" } } } }
        "404": { $ref: "#/components/responses/NotFound" }
    post:
      operationId: addPet
      summary: Adds a pet
      requestBody:
        required: true
        content: { application/json: { schema: { $ref: "#/components/schemas/Pet" }, example: { name: Tom } } }
      responses:
        "201":
          description: Added
          content: { application/json: { schema: { $ref: "#/components/schemas/Pet" } } }
`;

const WSDL = readFileSync(new URL("../../../docs/guide/lending.wsdl", import.meta.url), "utf8");
const MANUAL = readFileSync(new URL("../../../test/fixtures/workshop/manuals/parcels.md", import.meta.url), "utf8");

interface Drafted {
  file: ToolFile;
  text: string;
  name: string;
}

async function drafted(text: string, fileName: string, name: string): Promise<Drafted> {
  const document = parseDocument(text, name, fileName);
  const documents = { [name]: { file: fileName, sha256: document.sha256 } };
  const { file, problems } = draftToolFile(await factsOf(document), { api: "shop", documents });
  return { file: file ?? expect.fail(JSON.stringify(problems)), text, name };
}

const compare = ({ file, text, name }: Drafted, after: string) =>
  compareDocuments(file, { before: { [name]: text }, after: { [name]: after } });

/** `place of the file: place of the document member before → after` */
async function staleAfter(draft: Drafted, after: string): Promise<string[]> {
  expect(after).not.toBe(draft.text);
  const { stale, uncompared } = await compare(draft, after);
  expect(uncompared).toEqual([]);
  return stale.map(({ path, evidence, member, before, after: now }) =>
    [`${path}: ${evidence}`, member, before?.slice(0, 60), "→", now?.slice(0, 60)]
      .filter((each) => each !== undefined)
      .join(" "),
  );
}

const GRAPHQL = `type Query { "All pets" pets(limit: Int = 20, kind: Kind, tags: [Kind!]): [Pet!]! }
type Mutation { addPet(name: String!, pet: NewPet): Pet }
enum Kind { CAT DOG }
input NewPet { kind: Kind, age: Int }
"An animal"
type Pet { "Its name" name: String! kind: Kind age: Int }
`;
const POSTMAN = JSON.stringify({
  info: { name: "Shop", schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json" },
  variable: [{ key: "base", value: "https://api.shop.example/v1" }],
  auth: {
    type: "apikey",
    apikey: [
      { key: "key", value: "X-Key" },
      { key: "in", value: "header" },
    ],
  },
  item: [
    {
      name: "List pets",
      request: {
        method: "GET",
        description: "Lists all",
        url: { raw: "{{base}}/pets?limit=20", query: [{ key: "limit", value: "20", description: "At most" }] },
      },
    },
    {
      name: "Add pet",
      request: { method: "POST", url: "{{base}}/pets", body: { mode: "raw", raw: `{"name":"Tom","age":3}` } },
      response: [{ name: "ok", code: 201, body: `{"id":1}` }],
    },
  ],
});

const openapi = await drafted(OPENAPI, "shop.yaml", "openapi");
const wsdl = await drafted(WSDL, "lending.wsdl", "wsdl");
const manual = await drafted(MANUAL, "parcels.md", "manual");
const graphql = await drafted(GRAPHQL, "shop.graphql", "graphql");
const postman = await drafted(POSTMAN, "shop.json", "postman");

/** What is replaced by what, and the place of the file that says it, with what differs there. */
const IN_OPENAPI: readonly (readonly [was: string, is: string, found: string])[] = [
  [
    "required: [name]",
    "required: [name, kind]",
    "types.Pet.fields.kind: openapi#/components/schemas/Kind required false → true",
  ],
  [
    "required: [name]",
    "required: []",
    "types.Pet.fields.name: openapi#/components/schemas/Pet/properties/name required true → false",
  ],
  [
    "Kind: { type: string, enum: [cat, dog] }",
    "Kind: { type: integer }",
    'types.Pet.fields.kind: openapi#/components/schemas/Kind type ["string"] → ["integer"]',
  ],
  ["enum: [cat, dog]", "enum: [cat, dog, cow]", "types.Pet.fields.kind: openapi#/components/schemas/Kind enum"],
  ["enum: [new, sold]", "enum: [new]", "types.Pet.fields.state: openapi#/components/schemas/Pet/properties/state enum"],
  [
    "default: new",
    "default: sold",
    "types.Pet.fields.state: openapi#/components/schemas/Pet/properties/state default new → sold",
  ],
  ["minimum: 0", "minimum: 1", "types.Pet.fields.weight: openapi#/components/schemas/Weight minimum 0 → 1"],
  [
    "maximum: 100",
    "maximum: 50",
    "types.ListPetsInput.fields.limit: openapi#/components/parameters/Limit/schema maximum 100 → 50",
  ],
  [
    "minLength: 1",
    "minLength: 2",
    "types.Pet.fields.name: openapi#/components/schemas/Pet/properties/name minLength 1 → 2",
  ],
  [
    'pattern: "^[A-Z]"',
    'pattern: "^[a-z]"',
    "types.Pet.fields.name: openapi#/components/schemas/Pet/properties/name pattern",
  ],
  [
    "format: date",
    "format: date-time",
    "types.Pet.fields.born: openapi#/components/schemas/Pet/properties/born format date → date-time",
  ],
  [
    "description: An animal",
    "description: A beast",
    "types.Pet: openapi#/components/schemas/Pet description An animal → A beast",
  ],
  [
    "description: Its name",
    "description: Any name",
    "types.Pet.fields.name: openapi#/components/schemas/Pet/properties/name description",
  ],
  [
    "summary: Lists pets",
    "summary: Shows pets",
    "tools.list_pets: openapi#/paths/~1pets/get summary Lists pets → Shows pets",
  ],
  ["All pets that are for sale", "All pets", "tools.list_pets: openapi#/paths/~1pets/get description"],
  [
    "api.shop.example/v1",
    "api.shop.example/v2",
    "upstream.base: openapi#/servers/0 url https://api.shop.example/v1 → https://api.shop.example/v2",
  ],
  ["name: X-Key", "name: X-Token", "secrets.key: openapi#/components/securitySchemes/key name X-Key → X-Token"],
  [
    "in: header, name: X-Key",
    "in: query, name: X-Key",
    "secrets.key: openapi#/components/securitySchemes/key in header → query",
  ],
  ["security: [{ key: [] }]", "security: []", "tools.list_pets: openapi#/paths/~1pets/get security"],
  [
    "name: limit, in: query",
    "name: limit, in: header",
    "types.ListPetsInput.fields.limit: openapi#/components/parameters/Limit in query → header",
  ],
  ["name: limit,", "name: most,", "types.ListPetsInput.fields.limit: openapi#/components/parameters/Limit limit →"],
  [
    "explode: true",
    "explode: false",
    "types.ListPetsInput.fields.tags: openapi#/components/parameters/Tags explode true → false",
  ],
  ["style: form", "style: pipeDelimited", "types.ListPetsInput.fields.tags: openapi#/components/parameters/Tags style"],
  [
    "At most so many",
    "No more than this",
    "types.ListPetsInput.fields.limit: openapi#/components/parameters/Limit description",
  ],
  [
    "code: { type: integer }",
    "code: { type: string }",
    "tools.list_pets: openapi#/components/schemas/Error/properties/code type",
  ],
  [
    "Nothing there",
    "No such pets",
    "tools.list_pets: openapi#/components/responses/NotFound description Nothing there → No such pets",
  ],
  [
    "born: { type",
    "died: { type: string }\n        born: { type",
    "types.Pet: openapi#/components/schemas/Pet/properties/died → died",
  ],
  [
    "        born: { type: string, format: date }\n",
    "",
    "types.Pet.fields.born: openapi#/components/schemas/Pet/properties/born born →",
  ],
  [
    "summary: Adds a pet",
    "summary: Adds a pet\n      deprecated: true",
    "tools.add_pet: openapi#/paths/~1pets/post deprecated false → true",
  ],
  [
    'application/json: { schema: { $ref: "#/components/schemas/Pet" }, example',
    'application/x-www-form-urlencoded: { schema: { $ref: "#/components/schemas/Pet" }, example',
    "application/json →",
  ],
  ['"404": {', '"410": {', "404: Nothing there →"],
  [
    "additionalProperties: { type: string }",
    "additionalProperties: { type: integer }",
    "types.Pet.fields.more: openapi#/components/schemas/Pet/properties/more/additionalProperties type",
  ],
  ["{ id: { type: integer } }", "{ id: { type: string } }", "/oneOf/1/properties/id type"],
  ["X-Total: { schema: { type: integer } }", "X-Total: { schema: { type: string } }", "type"],
  ["post:", "put:", "tools.add_pet: openapi#/paths/~1pets/post"],
  ["title: Shop", "title: Store", "title: openapi#/info title Shop → Store"],
  ["description: Sells pets", "description: Sells all", "description: openapi#/info description"],
];

describe("nexus api stale names what a newer OpenAPI document says differently", () => {
  test.for(IN_OPENAPI)("%j → %j", async ([was, is, found]) => {
    expect(OPENAPI).toContain(was);
    expect(await staleAfter(openapi, OPENAPI.replace(was, is))).toContainEqual(expect.stringContaining(found));
  });

  test("nothing is stale after a change of layout, order or comments alone", async () => {
    const value = parse(OPENAPI) as Record<string, unknown>;
    const reversed = Object.fromEntries(Object.entries(value).toReversed());
    expect(await staleAfter(openapi, JSON.stringify(reversed))).toEqual([]);
    expect(await staleAfter(openapi, `# A comment\n${stringify(value, { lineWidth: 40 })}`)).toEqual([]);
    expect(await staleAfter(openapi, OPENAPI.replace("enum: [cat, dog]", "enum: [dog, cat]"))).toEqual([]);
  });

  test("the tools of a place are those that have its type", async () => {
    const { stale } = await compare(openapi, OPENAPI.replace("description: An animal", "description: A beast"));
    expect(stale).toEqual([
      expect.objectContaining({ path: "types.Pet", tools: ["list_pets", "add_pet"], change: "changed" }),
    ]);
  });

  test("of several fields that were made of one schema, the one that it is about is named", async () => {
    const text = OPENAPI.replace("requestBody:", "parameters: [{ name: dry, in: query }]\n      requestBody:");
    const draft = await drafted(text, "shop.yaml", "openapi");
    const after = text.replace("born: { type: string, format: date }", "born: { type: integer }");
    expect((await staleAfter(draft, after)).map((each) => each.replace(/: .* type/, " type"))).toEqual(
      expect.arrayContaining([
        'types.AddPetInput.fields.born type ["string"] → ["integer"]',
        'types.Pet.fields.born type ["string"] → ["integer"]',
      ]),
    );
    expect((await staleAfter(draft, after)).filter((each) => !each.includes(".fields.born: "))).toEqual([]);
  });

  test("a newer version that cannot be read is not said to be the same", async () => {
    const { uncompared } = await compare(openapi, "nothing that describes requests");
    expect(uncompared).toEqual([{ document: "openapi", why: expect.any(String) }]);
  });
});

describe("nexus api stale names what a newer WSDL says differently", () => {
  test.for([
    [/<soap:address location="[^"]*"/, '<soap:address location="https://other.example/soap"', "upstream.base"],
    [/type="xsd?:(?:string|int|integer|date)"/, 'type="xs:boolean"', "type"],
    [
      /<(\w+:)?element name="(\w+)" type="[^"]*"\s*\/>/,
      (all: string) => `${all}${all.replace(/name="\w+"/, 'name="added"')}`,
      "added",
    ],
    [/<(?:wsdl:)?documentation>[^<]*/, (all: string) => `${all} More.`, "tools."],
  ] as const)("%s", async ([was, is, found]) => {
    const after = typeof is === "string" ? WSDL.replace(was, is) : WSDL.replace(was, is);
    expect(await staleAfter(wsdl, after)).toContainEqual(expect.stringContaining(found));
  });

  test("nothing is stale after a change of layout or comments alone", async () => {
    const indented = WSDL.replaceAll(/\n\s*/g, "\n\n\t").replace(/(<\/?\w*:?types>)/, "<!-- note -->\n$1");
    expect(await staleAfter(wsdl, indented)).toEqual([]);
  });
});

test("nexus api stale names each of several members of a WSDL that is one line", async () => {
  const line = WSDL.replaceAll(/\n\s*/g, " ");
  const draft = await drafted(line, "lending.wsdl", "wsdl");
  for (const name of new Set([...line.matchAll(/element name="(\w+)" type="xsd?:/g)].map(([, each]) => each))) {
    const after = line.replaceAll(new RegExp(`(element name="${name}" type="xsd?:)\\w+"`, "g"), '$1hexBinary"');
    const found = await staleAfter(draft, after);
    expect(
      found.some((each) => each.includes(`.fields.${name}: `) || each.includes(`/${name}: `)),
      `${name}: ${found.join("\n")}`,
    ).toBe(true);
  }
});

describe("nexus api stale names what a newer manual says differently", () => {
  test.for([
    ["https://api.parcel.test/shipping/v2", "https://api.parcel.test/shipping/v3", "upstream.base"],
    ["`X-Api-Key`", "`X-Token`", "secrets"],
    ["| product | M | String | 10 |", "| product | O | String | 10 |", ".fields.product"],
    ["| product | M | String | 10 |", "| product | M | String | 20 |", ".fields.product"],
    ["| product | M | String | 10 |", "| product | M | Integer | |", ".fields.product"],
    ["V01PAK, V53WPAK", "V01PAK, V53WPAK, V62WP", ".fields.product"],
    ["between 0.1 and 31.5", "between 0.1 and 20", "weight"],
    ["| shipDate |", "| pickUp | O | Date | | |\n| shipDate |", "pickUp"],
    ["| 400 | Validation failed |", "| 422 | Validation failed |", "tools."],
    ["| 401 | Key is missing |", "| 401 | Key is wrong |", "tools."],
    ["`de` or `en`, default `de`", "`de` or `en`, default `en`", ".fields.language"],
    ["| language | query | string | no |", "| language | query | string | yes |", ".fields.language"],
    ["# Parcel Shipping API 2.3", "# Parcel Shipping API 2.4", ": manual#"],
  ] as const)("%j → %j", async ([was, is, found]) => {
    expect(MANUAL).toContain(was);
    expect(await staleAfter(manual, MANUAL.replace(was, is))).toContainEqual(expect.stringContaining(found));
  });

  test("nothing is stale after a change of layout or comments alone", async () => {
    const padded = MANUAL.replaceAll("| M |", "|  M  |").replace("|---|---|", "| --- | --- |");
    expect(await staleAfter(manual, `${padded}\n<!-- checked -->\n`)).toEqual([]);
  });
});

describe("nexus api stale names what a newer GraphQL schema says differently, also where a line has several things", () => {
  test.for([
    ["All pets", "Every pet", "tools.pets"],
    ["limit: Int = 20", "limit: Int = 30", "types.PetsArguments.fields.limit"],
    ["kind: Kind, tags", "kind: Kind!, tags", "required false → true"],
    ["CAT DOG", "CAT DOG COW", 'types.PetsArguments.fields.kind: graphql#L1 enum ["CAT","DOG"] → ["CAT","COW","DOG"]'],
    ["CAT DOG", "CAT", "types.PetsArguments.fields.tags: graphql#L1 enum"],
    ["CAT DOG", "CAT", "types.Pet.fields.kind: graphql#L6 enum"],
    ["CAT DOG", "CAT", "fields.kind: graphql#L4 enum"],
    ["An animal", "A beast", "types.Pet: graphql#L5-L6 description"],
    ["name: String! kind", "name: String kind", "types.Pet.fields.name: graphql#L6 nullable"],
    ["kind: Kind age: Int", "kind: Kind age: String", 'types.Pet.fields.age: graphql#L6 type ["integer"] → ["string"]'],
    ["addPet(", "newPet(", "tools.add_pet"],
  ] as const)("%j → %j", async ([was, is, found]) => {
    expect(GRAPHQL).toContain(was);
    expect(await staleAfter(graphql, GRAPHQL.replace(was, is))).toContainEqual(expect.stringContaining(found));
  });

  test("and names no place that only shares its line", async () => {
    const found = await staleAfter(graphql, GRAPHQL.replace("CAT DOG", "CAT"));
    expect(found.filter((each) => !/fields\.(?:kind|tags): /.test(each))).toEqual([]);
  });

  test("nothing is stale after a change of layout or comments alone", async () => {
    const spaced = GRAPHQL.replaceAll(" { ", "\n{\n  ").replace("enum", "# kinds\nenum").replaceAll(", ", " ");
    expect(await staleAfter(graphql, spaced)).toEqual([]);
  });
});

describe("nexus api stale names what a newer Postman collection says differently", () => {
  test.for([
    ["shop.example/v1", "shop.example/v2", "upstream.base: postman#/item/0/request/url url"],
    ["X-Key", "X-Token", "secrets.api-key: postman#/auth name X-Key → X-Token"],
    ["Lists all", "Shows all", "tools.list_pets: postman#/item/0 description"],
    ["At most", "No more than", "types.ListPetsInput.fields.limit: postman#/item/0/request/url/query/0 description"],
    [`age\\":3`, `age\\":\\"3\\"`, 'postman#/item/1/request/body/raw/age type ["number"] → ["string"]'],
    [`id\\":1`, `id\\":\\"a\\"`, "types.AddPetAnswer.fields.id"],
    ["POST", "PUT", "tools.add_pet: postman#/item/1 method POST → PUT"],
    ["201", "202", "tools.add_pet: postman#/item/1/response/0"],
  ] as const)("%j → %j", async ([was, is, found]) => {
    expect(POSTMAN).toContain(was);
    expect(await staleAfter(postman, POSTMAN.replace(was, is))).toContainEqual(expect.stringContaining(found));
  });
});
