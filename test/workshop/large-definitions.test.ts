import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { connect, type Client } from "../../src/index.ts";
import { isRecord } from "../../src/json/is-record.ts";
import { fullInputSchema, fullOutputSchema } from "../../src/workshop/compile/json-schema.ts";
import { apiServer, transportTo } from "../../src/workshop/serve/api-server.ts";
import { importedApi, runnerFor } from "../fixtures/workshop/imported-runner.ts";

const LIMIT = 64 * 1024;
const KUBERNETES = join(import.meta.dirname, "../../../shared/corpus/kubernetes-2026-2.0.json");

/** 60 types of 40 fields, each of which has the next one. */
function madeUp(): object {
  const types = Array.from({ length: 60 }, (_, at) => {
    const fields = Array.from({ length: 40 }, (__, index) => [
      `field${index}`,
      {
        type: "string",
        maxLength: index + 1,
        description: `The field ${index} of type ${at}, which is described at length.`,
      },
    ]);
    const next = [["next", { $ref: `#/components/schemas/T${Math.min(59, at + 1)}` }]];
    return [`T${at}`, { type: "object", properties: Object.fromEntries([...fields, ...next]) as object }];
  });
  const schema = { $ref: "#/components/schemas/T0" };
  const body = { content: { "application/json": { schema } } };
  return {
    openapi: "3.0.3",
    info: { title: "Large", version: "1" },
    servers: [{ url: "https://large.example" }],
    paths: {
      "/t": { post: { operationId: "makeT", requestBody: body, responses: { 200: { description: "Made", ...body } } } },
    },
    components: { schemas: Object.fromEntries(types) as object },
  };
}

/** The corpus has hundreds of other operations, which take long to import. */
function deploymentsIn(file: string): object {
  const description = JSON.parse(readFileSync(file, "utf8")) as { paths: Record<string, unknown> };
  const path = "/apis/apps/v1/namespaces/{namespace}/deployments";
  return { ...description, paths: { [path]: description.paths[path] } };
}

async function answer(client: Client, args: Record<string, unknown>): Promise<Record<string, unknown>> {
  const result = await client.callTool("describe_tool", args);
  expect(result.isError).toBeFalsy();
  expect(Buffer.byteLength(JSON.stringify(result.content))).toBeLessThanOrEqual(2 * LIMIT);
  const text = result.content.at(-1)?.text ?? "";
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(LIMIT);
  return JSON.parse(text) as Record<string, unknown>;
}

/** Reads a part with everything that is cut from it. */
async function readPart(client: Client, name: string, path: string): Promise<unknown> {
  const { part, next } = await answer(client, { name, path });
  expect(next).toBeUndefined();
  const follow = async (value: unknown): Promise<unknown> => {
    if (Array.isArray(value)) return Promise.all(value.map(follow));
    if (!isRecord(value)) return value;
    if (typeof value["cut"] === "string" && "bytes" in value) return readPart(client, name, value["cut"]);
    const members = Object.entries(value).map(async ([key, member]) => [key, await follow(member)] as const);
    return Object.fromEntries(await Promise.all(members));
  };
  return follow(part);
}

describe("X6: describe_tool gives the whole schema of a large tool in parts, each within its limit", () => {
  test.each([
    ["make_t", "of a made-up description", undefined],
    ["create_apps_v1_namespaced_deployment", "of Kubernetes", KUBERNETES],
  ])("%s %s", async (name, _, path) => {
    if (path !== undefined && !existsSync(path)) return;
    const description = path === undefined ? madeUp() : deploymentsIn(path);
    const { file, api } = importedApi(description);
    const spec = file.tools[name];
    if (!spec) throw new Error(`There is no tool ${name}`);
    await using client = await connect(
      transportTo(apiServer(runnerFor(api, "http://127.0.0.1:1/"), { documents: {} })),
    );
    const first = await answer(client, { name });
    expect(first).toMatchObject({ name, parts: { paths: ["/inputSchema", "/outputSchema"] } });
    expect(Buffer.byteLength(JSON.stringify(first))).toBeLessThan(16 * 1024);
    const input = await readPart(client, name, "/inputSchema");
    expect(input).toMatchObject(fullInputSchema(file, spec));
    expect(await readPart(client, name, "/outputSchema")).toEqual(fullOutputSchema(file, spec));
    const wrong = await client.callTool("describe_tool", { name, path: "/nowhere" });
    expect(wrong).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining("/inputSchema") as string }],
    });
  });
});
