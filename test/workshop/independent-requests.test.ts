import { createServer, type IncomingHttpHeaders } from "node:http";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startFake } from "../../src/workshop/fake/fake.ts";
import { importedApi, runnerFor } from "../fixtures/workshop/imported-runner.ts";
import { OPENAPI_CASES, SWAGGER_CASES } from "../fixtures/workshop/request-cases.ts";
import { hasSwaggerClient, sendWithSwaggerClient } from "../fixtures/workshop/swagger-client.ts";

interface Seen {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

const seen: Seen[] = [];
const recorder = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    const { method = "", url = "", headers } = request;
    seen.push({ method, url, headers, body: Buffer.concat(parts) });
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
});
let origin = "";

beforeAll(async () => {
  await new Promise<void>((resolve) => recorder.listen(0, "127.0.0.1", resolve));
  const address = recorder.address();
  origin = typeof address === "object" && address ? `http://127.0.0.1:${address.port}` : "";
});
afterAll(async () => {
  recorder.closeAllConnections();
  await new Promise((resolve) => recorder.close(resolve));
});

describe.runIf(hasSwaggerClient).each([
  ["OpenAPI 3.0", OPENAPI_CASES],
  ["Swagger 2.0", SWAGGER_CASES],
])("X5 %s, requests of imported tools beside those of swagger-client", (_, cases) => {
  test.each(cases.map((each) => [each.title, each] as const))("%s", async (_, each) => {
    await sendWithSwaggerClient(each, origin);
    const expected = await comparable(taken());
    const { api, file } = importedApi(each.document);
    await using runner = runnerFor(api, origin);
    const result = await runner.call(each.tool, each.arguments);
    expect(result.isError, JSON.stringify(result.content)).not.toBe(true);
    expect(await comparable(taken())).toEqual(expected);

    await using fake = await startFake(file);
    await sendWithSwaggerClient(each, fake.url.replace(/\/$/, ""));
    await using practising = runnerFor(api, fake.url);
    await practising.call(each.tool, each.arguments);
    const [theirs, ours] = fake.requests;
    expect(theirs).toMatchObject({ tool: each.tool, status: ours?.status });
    expect(ours?.status).toBeLessThan(300);
    if (!each.isLibraryWrong) expect(theirs?.input).toEqual(ours?.input);
  });
});

function taken(): Seen {
  const [first, second] = seen.splice(0);
  if (!first || second) throw new Error(`expected one request, got ${first ? "several" : "none"}`);
  return first;
}

/** What the request means; how much of it is percent-encoded and the boundary of its parts are of no importance. */
async function comparable({ method, url, headers, body }: Seen) {
  const [path = "", query = ""] = url.split("?");
  const type = headers["content-type"] ?? "";
  return {
    method,
    path: path.split("/").map(decodeURIComponent),
    query: pairsIn(query),
    color: headers["color"],
    cookie: headers.cookie,
    type: type.split(";")[0],
    body: await bodyOf(type, body),
  };
}

async function bodyOf(type: string, body: Buffer): Promise<unknown> {
  if (type.includes("json")) return JSON.parse(body.toString());
  if (type.includes("urlencoded")) return pairsIn(body.toString());
  if (!type.startsWith("multipart/")) return body.toString("latin1");
  const form = await new Response(body, { headers: { "content-type": type } }).formData();
  const parts = [...form].map(async ([name, value]) => {
    if (typeof value === "string") return [name, value];
    return [name, value.name, value.type, Buffer.from(await value.arrayBuffer()).toString("latin1")];
  });
  return Promise.all(parts);
}

function pairsIn(text: string): string[][] {
  if (text === "") return [];
  return text.split("&").map((pair) => pair.split("=").map((part) => decodeURIComponent(part.replaceAll("+", "%20"))));
}
