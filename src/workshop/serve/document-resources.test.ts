import { expect, test } from "vitest";
import { smallFile } from "../../../test/fixtures/workshop/small-file.ts";
import type { ResourceContents } from "../../protocol/mcp.ts";
import { compileApi } from "../compile/compile.ts";
import { DocumentResources } from "./api-server.ts";

const TEXT = `# A comment, not a heading
openapi: 3.1.0
# Another comment
paths:
  /pets:
    get: { summary: All pets }
`;

function resources(): DocumentResources {
  const file = smallFile();
  file.documents = { openapi: { file: "openapi.yaml", sha256: "0".repeat(64) } };
  Object.assign(file.tools["find"] ?? {}, { evidence: ["openapi#/paths/~1pets/get", "openapi#L1-L4"] });
  return new DocumentResources(compileApi(file, { openapi: TEXT }).api, { openapi: TEXT }, async (text) => text);
}

async function read(place: string): Promise<ResourceContents | undefined> {
  const contents: unknown = await resources()
    .places()
    .read("doc://shop/openapi/x", { document: "openapi", place }, undefined as never);
  return (contents as ResourceContents[] | undefined)?.[0];
}

test("a description is offered as a whole with its own type, and its comments are not chapters", () => {
  expect(
    resources()
      .listed()
      .map(({ resource }) => [resource.uri, resource.mimeType]),
  ).toEqual([["doc://shop/openapi", "application/yaml"]]);
});

test("a part that evidence cites by JSON pointer can be read as JSON", async () => {
  expect(await read("/paths/~1pets/get")).toEqual({
    uri: "doc://shop/openapi/x",
    mimeType: "application/json",
    text: `{\n  "summary": "All pets"\n}`,
  });
  expect(await read("/paths/~1pets/put")).toBeUndefined();
  expect(await read("paths")).toBeUndefined();
  expect(await read("L2")).toMatchObject({ text: "openapi: 3.1.0", mimeType: "application/yaml" });
});

test("a page of a PDF can be read, and documents have the type of their file", async () => {
  const file = smallFile();
  const manual = { manual: { file: "manual.pdf.txt", sha256: "0".repeat(64) } };
  file.documents = { ...manual, page: { file: "page.html", sha256: "0".repeat(64) } };
  const documents = { manual: "# One\n\fsecond\n", page: "<p>x</p>" };
  const served = new DocumentResources(compileApi(file, documents).api, documents, async (text) => text);
  expect(served.listed().map(({ resource }) => resource.mimeType)).toEqual(["text/plain", "text/html"]);
  const uri = "doc://shop/manual/P2";
  expect(await served.places().read(uri, { document: "manual", place: "P2" }, undefined as never)).toEqual([
    { uri, mimeType: "text/plain", text: "second" },
  ]);
});

test("a document beside a tool file is served without credentials, and so are the names of its chapters (X9)", async () => {
  const file = smallFile();
  file.documents = { manual: { file: "manual.md", sha256: "0".repeat(64) } };
  Object.assign(file.tools["find"] ?? {}, { evidence: ["manual#L3", "manual#L6"] });
  const secret = "hunter2x-12345";
  const manual = `# Guide\n\n## Send X-Api-Key: ${secret}\nIt is needed.\n\n## Answers\ncurl -u ada:${secret} https://a.example\n`;
  const served = new DocumentResources(compileApi(file, { manual }).api, { manual }, async (text) => text);
  const listed = served.listed();
  expect(listed.map(({ resource }) => resource.title)).toEqual(["manual", "Send X-Api-Key: <credential>", "Answers"]);
  const contents = await Promise.all(
    listed.map(async ({ resource, read: text }) => text(resource.uri, undefined as never)),
  );
  expect(JSON.stringify([listed, contents])).not.toContain(secret);
  expect(JSON.stringify(contents)).toContain("curl -u <credential> https://a.example");
});
