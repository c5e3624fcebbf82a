import { Ajv2020 } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openApiDocument } from "../../src/rest/openapi.ts";
import { examples, type Example } from "./contract-examples.ts";
import { RestWorld, type RestAnswer } from "./rest-world.ts";

interface Described {
  operationId: string;
  method: string;
  path: string;
  "x-nexus-access": "public" | "caller" | "operator" | "admin" | "all-tenants";
  parameters: { name: string; in: string; schema: Schema }[];
  requestBody?: { content: Record<string, { schema: { $ref: string } }> };
  responses: Record<string, { content?: Record<string, { schema?: object }> }>;
}

interface Schema {
  type?: string;
  $ref?: string;
  properties?: Record<string, Schema>;
  required?: string[];
}

interface Document {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, Schema> };
}

// Vitest needs the list before the gateway runs; that the gateway says the same is tested below.
const document = openApiDocument() as unknown as Document;
const OPERATIONS = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
);
const PROTECTED = OPERATIONS.filter((operation) => operation["x-nexus-access"] !== "public");
const OF_TENANTS = PROTECTED.filter(({ path }) => path.includes("{tenant}"));
const WITH_BODY = OPERATIONS.filter(({ requestBody }) => requestBody);
const WITH_QUERY = OPERATIONS.filter(({ parameters }) => parameters.some((each) => each.in === "query"));
/** The strongest key that may not use an operation. */
const TOO_LOW = { operator: "caller", admin: "operator", "all-tenants": "admin" } as const;

let world: RestWorld;
let keys: Record<"caller" | "operator" | "admin" | "all-tenants" | "other", string>;
const ajv = new Ajv2020({ strict: false, schemas: [{ ...document, $id: "openapi" }] });

beforeAll(async () => {
  world = await RestWorld.open();
  keys = {
    caller: await world.newKey("caller", "shop"),
    operator: await world.newKey("operator", "shop"),
    admin: await world.newKey("admin", "shop"),
    "all-tenants": await world.newKey("admin", "default", { allTenants: true }),
    other: await world.newKey("admin", "default"),
  };
});
afterAll(() => world[Symbol.asyncDispose]());

/** The path with the parameters of the example; those that it does not name are of things that do not exist. */
function pathOf({ path }: { path: string }, { params = {} }: Example = {}): string {
  return path.replaceAll(
    /\{(\w+)\}/g,
    (_all, name: string) => params[name] ?? (name === "tenant" ? "shop" : "nothing"),
  );
}

function expectProblem({ status, headers, body }: RestAnswer, expected: number): void {
  expect({ status, code: body["code"] }).toMatchObject({ status: expected });
  expect(headers["content-type"]).toBe("application/problem+json");
  expectValid(body, "#/components/schemas/Problem");
}

function expectValid(value: unknown, ref: string): void {
  const isValid = ajv.validate({ $ref: `openapi${ref}` }, value);
  expect(isValid ? [] : ajv.errors, JSON.stringify(value)).toEqual([]);
}

describe("the OpenAPI document", () => {
  test("is public, and is what the gateway serves", async () => {
    const answer = await world.call("GET", "/openapi.json");
    expect(answer).toMatchObject({ status: 200, body: JSON.parse(JSON.stringify(document)) as object });
    const again = await world.call("GET", "/openapi.json", {
      headers: { "if-none-match": String(answer.headers["etag"]) },
    });
    expect(again.status).toBe(304);
  });

  test("has an example in these tests for every operation", () => {
    expect(Object.keys(examples).toSorted()).toEqual(OPERATIONS.map(({ operationId }) => operationId).toSorted());
  });
});

describe("every operation", () => {
  test.each(OPERATIONS)("$operationId answers as it is described", async (operation) => {
    const { operationId, method, responses } = operation;
    const example = await examples[operationId]?.(world, keys["all-tenants"]);
    const key = operation["x-nexus-access"] === "public" ? undefined : keys["all-tenants"];
    const { body, query = "", headers = {} } = example ?? {};
    const answer = await world.call(method, `${pathOf(operation, example)}${query}`, { key, body, headers });
    const expected = Object.keys(responses).find((status) => Number(status) < 300) ?? "";
    expect({ status: answer.status, text: answer.text }).toMatchObject({ status: Number(expected) });
    const { content } = responses[expected] ?? {};
    const json = content?.["application/json"]?.schema as { $ref: string } | undefined;
    if (!json) return;
    expectValid(answer.body, json.$ref);
    if (method !== "GET") return;
    const again = { key, headers: { "if-none-match": String(answer.headers["etag"]) } };
    // What has the current time in it differs each time.
    const second = await world.call("GET", `${pathOf(operation, example)}${query}`, again);
    expect([200, 304]).toContain(second.status);
  });

  test.each(PROTECTED)("$operationId is refused without credentials and with wrong ones", async (operation) => {
    expectProblem(await world.call(operation.method, pathOf(operation)), 401);
    expectProblem(await world.call(operation.method, pathOf(operation), { key: "nxs_wrong" }), 401);
  });

  test.each(PROTECTED.filter((operation) => operation["x-nexus-access"] !== "caller"))(
    "$operationId is refused for a role that is too low",
    async (operation) => {
      const role = TOO_LOW[operation["x-nexus-access"] as keyof typeof TOO_LOW];
      expectProblem(await world.call(operation.method, pathOf(operation), { key: keys[role] }), 403);
    },
  );

  test.each(OF_TENANTS.filter((operation) => operation["x-nexus-access"] !== "all-tenants"))(
    "$operationId answers about another tenant as about one that does not exist",
    async (operation) => {
      const ask = async (tenant: string) => {
        const answer = await world.call(operation.method, pathOf(operation, { params: { tenant } }), {
          key: keys.other,
        });
        expectProblem(answer, 404);
        return answer.text.replaceAll(tenant, "…");
      };
      expect(await ask("shop")).toBe(await ask("none"));
    },
  );

  test.each(WITH_BODY)("$operationId refuses bodies of wrong types", async (operation) => {
    const { method, requestBody } = operation;
    const ref = requestBody?.content["application/json"]?.schema.$ref ?? "";
    const schema = document.components.schemas[ref.split("/").at(-1) ?? ""] ?? {};
    const path = pathOf(operation);
    const send = (body: unknown) => world.call(method, path, { key: keys["all-tenants"], body });
    expectProblem(await send("{"), 400);
    for (const body of [[], 7, null, "text"]) expectProblem(await send(JSON.stringify(body)), 400);
    expectProblem(await send({ unknownMember: 1 }), 400);
    for (const [name, { type }] of Object.entries(schema.properties ?? {})) {
      const wrong = type === "object" ? 7 : { not: "this" };
      const answer = await send({ [name]: wrong });
      expectProblem(answer, 400);
      const at = (answer.body["errors"] as { at: string }[] | undefined)?.map((each) => each.at) ?? [];
      // Of `entry` any object is right, so the other members are named.
      expect(at.length, `${name}: ${answer.text}`).toBeGreaterThan(0);
    }
  });

  test.each(WITH_QUERY)("$operationId refuses queries of wrong types", async (operation) => {
    const key = keys["all-tenants"];
    const ask = (query: string) => world.call(operation.method, `${pathOf(operation)}?${query}`, { key });
    expectProblem(await ask("unknown=1"), 400);
    for (const { name, in: where, schema } of operation.parameters) {
      if (where === "query" && schema.type === "integer") {
        expectProblem(await ask(`${name}=many`), 400);
        expectProblem(await ask(`${name}=-1`), 400);
      }
    }
  });
});
