import { afterAll, beforeAll, expect, test } from "vitest";
import { RestWorld } from "../rest/rest-world.ts";

let world: RestWorld;
beforeAll(async () => {
  world = await RestWorld.open();
});
afterAll(() => world[Symbol.asyncDispose]());

interface Described {
  operationId: string;
  tags: string[];
  "x-nexus-access": string;
}

interface Document extends Record<string, unknown> {
  paths: Record<string, Record<string, Described>>;
  components: { schemas: Record<string, unknown> };
}

/** One thing a line, so that a difference shows what it is about. */
function line(name: string, what: unknown): string {
  return `${name} ${JSON.stringify(sorted(what, name))}`;
}

/** The order of members means nothing, except that of properties, which is the order for people. */
function sorted(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value.map((each) => sorted(each, name));
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([key, member]) => [key, sorted(member, key)] as const);
  return Object.fromEntries(name === "properties" ? members : members.toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

async function served(): Promise<Document> {
  const { status, text } = await world.call("GET", "/openapi.json");
  expect(status).toBe(200);
  return JSON.parse(text) as Document;
}

test("the OpenAPI document that a gateway serves is the recorded one", async () => {
  const { paths, components, ...rest } = await served();
  const { schemas, ...others } = components;
  const operations = Object.entries(paths).flatMap(([path, byMethod]) =>
    Object.entries(byMethod).map(([method, operation]) => line(`${method} ${path}`, operation)),
  );
  const described = Object.entries(schemas).map(([name, schema]) => line(name, schema));
  const lines = [line("document", rest), line("components", others), "", ...operations, "", ...described];
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("../golden/rest/openapi.txt");
});

test("changes through the REST API are recorded in the audit under the recorded methods", async () => {
  const { paths } = await served();
  const methods = Object.values(paths).flatMap((byMethod) =>
    Object.entries(byMethod).flatMap(([method, { operationId, tags, "x-nexus-access": access }]) =>
      method === "get" || access === "public" || tags.includes("session") ? [] : [`rest/${operationId}`],
    ),
  );
  await expect(`${methods.toSorted().join("\n")}\n`).toMatchFileSnapshot("../golden/names/audit-methods-rest.txt");
});
