import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compileApi } from "../../src/workshop/compile/compile.ts";
import { startFake, type Fake } from "../../src/workshop/fake/fake.ts";
import { readToolFile } from "../../src/workshop/file/read-tool-file.ts";
import { ApiRunner } from "../../src/workshop/run/api-runner.ts";

const PNG = "iVBORw0KGgo=";

const FILE = `
nexus: 1
api: wire
title: Wire
description: All kinds of requests and answers.
version: 1.0.0
upstream:
  base: https://api.example/v1/
  allow: [https://api.example/, https://uploads.example/]
secrets:
  key: { query: { key: token } }
settings:
  tenant: { default: t1 }
types:
  Upload:
    fields:
      id: { type: string }
      file: { type: binary }
      more: { list: { type: binary }, optional: true }
      note: { type: string, optional: true }
      meta: { type: Meta, optional: true }
  Meta: { fields: { tags: { list: string }, size: { type: integer, optional: true } } }
  Bytes: { fields: { name: { type: string }, content: { wire: ".", type: binary } } }
  Words: { fields: { text: { wire: ".", type: string } } }
  Search:
    fields:
      ids: { list: integer, optional: true }
      filter: { type: Filter, optional: true }
      session: { type: string, optional: true }
      trace: { type: string, optional: true }
  Filter: { fields: { name: { type: string, optional: true }, sizes: { list: integer, optional: true } } }
  Form: { fields: { name: { type: string }, filter: { type: Filter, optional: true } } }
  Nothing: { fields: {} }
  Id: { fields: { id: { type: string } } }
  Patch: { fields: { id: { type: string }, note: { type: string, nullable: true, optional: true } } }
  Done: { fields: { ok: { type: boolean, optional: true }, all: { list: string, optional: true } } }
  Page: { fields: { items: { wire: ".", list: string }, total: { type: integer, optional: true }, links: { list: string, optional: true } } }
  Sheet: { fields: { etag: { type: string, optional: true } } }
tools:
  upload:
    title: Upload
    description: Uploads a file.
    effect: write
    input: Upload
    request: { method: POST, base: "https://uploads.example/v2/", path: "files/{id}", secrets: key, body: multipart, parts: { file: { contentType: image/png } } }
    response: { as: json, type: Done, text: Uploaded. }
  put_bytes:
    title: Put bytes
    description: Puts bytes.
    effect: write
    input: Bytes
    request: { method: PUT, path: "bytes/{;name}", body: binary }
    response: { as: none, text: Put. }
  say:
    title: Say
    description: Sends words.
    effect: write
    input: Words
    request: { method: POST, path: words, body: text, contentType: text/markdown }
    response: { as: text, text: "It said {text}" }
  search:
    title: Search
    description: Searches.
    effect: read
    input: Search
    request:
      method: GET
      path: search
      query: { ids: { field: ids, style: pipe }, filter: { field: filter, style: deep }, v: { const: 2 }, tenant: { value: settings.tenant } }
      headers: { X-Trace: trace, Notion-Version: { const: "2022-06-28" } }
      cookies: { session: session }
      accept: application/vnd.api+json
    response: { as: json, type: Page, headers: { X-Total-Count: total, Link: links }, text: "{total} in all" }
  form:
    title: Form
    description: Sends a form.
    effect: write
    input: Form
    request: { method: POST, path: form, body: form, parts: { filter: { style: deep } } }
    response: { as: json, type: Done, text: Done. }
  ping:
    title: Ping
    description: Posts nothing.
    effect: write
    input: Nothing
    request: { method: POST, path: ping }
    response: { as: none, text: Pong. }
  remove:
    title: Remove
    description: Deletes with a body.
    effect: destructive
    input: Patch
    request: { method: DELETE, path: "things/{id}", body: json, bodyOptional: true }
    response: { as: json, type: Done, text: Removed. }
  photo:
    title: Photo
    description: Gets a photo.
    effect: read
    input: Id
    request: { method: GET, path: "photos/{id}" }
    response: { as: binary, text: "{size} bytes of {contentType}" }
  sheet:
    title: Sheet
    description: Gets a sheet.
    effect: read
    input: Id
    request: { method: GET, path: "sheets/{id}", secrets: key }
    response: { as: binary, type: Sheet, headers: { ETag: etag }, text: "Sheet {etag}" }
    limits: { result: 300, download: 2kB }
  anything:
    title: Anything
    description: Gets anything.
    effect: read
    input: Id
    request: { method: GET, path: "anything/{id}" }
    response: { as: auto, text: Got it. }
  exists:
    title: Exists
    description: Asks whether it exists.
    effect: read
    input: Id
    request: { method: HEAD, path: "things/{id}" }
    response: { as: none, text: It exists. }
fake:
  tools:
    upload: { answers: [{ give: { ok: true, all: [] } }] }
    say: { answers: [{ give: "= input.text" }] }
    search: { answers: [{ give: { items: [a, b], total: 7, links: [x, y] } }] }
    form: { answers: [{ give: { ok: true, all: [] } }] }
    remove: { answers: [{ status: 204, give: "" }] }
    photo: { answers: [{ give: "data:image/png;base64,${PNG}" }] }
    sheet:
      answers:
        - { when: "input.id == 'big'", give: { etag: e2, content: "data:text/csv;base64,${Buffer.alloc(1_000, "demo-token,").toString("base64")}" } }
        - { when: "input.id == 'huge'", give: { etag: e3, content: "data:text/csv;base64,${Buffer.alloc(3_000, "x").toString("base64")}" } }
        - { give: { etag: e1, content: "data:text/csv;base64,${Buffer.from("a,demo-token").toString("base64")}" } }
`;

let fake: Fake;
let runner: ApiRunner;

beforeAll(async () => {
  const { file, problems } = readToolFile(FILE, "wire.nexus.yaml");
  expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
  if (!file) throw new Error("the file cannot be read");
  const { api } = compileApi(file, {});
  if (!api) throw new Error("the file cannot be compiled");
  fake = await startFake(file);
  const secrets: Record<string, string> = fake.secrets;
  const find = (name: string) => Promise.resolve(secrets[name.replace("wire.", "")]);
  runner = new ApiRunner(api, { secrets: find, upstream: fake.url });
});

afterAll(async () => {
  await runner.close();
  await fake.close();
});

async function call(tool: string, args: Record<string, unknown>) {
  const result = await runner.call(tool, args, { caller: "ann" });
  const seen = fake.requests.at(-1);
  expect({ isError: result.isError, text: result.isError ? result.content[0]?.text : "" }).toEqual({
    isError: undefined,
    text: "",
  });
  return { result, seen };
}

describe("requests of all kinds reach the fake with the same values", () => {
  test("multipart, to a base of its own, with the credentials", async () => {
    const args = {
      id: "1",
      file: "data:image/gif;name=a%22b.gif;base64,AAEC",
      more: ["AA==", ""],
      note: "ü\r\n--x",
      meta: { tags: ["a"], size: 2 },
    };
    const { seen } = await call("upload", args);
    expect(seen).toMatchObject({ tool: "upload", status: 200, input: { ...args, file: "AAEC" } });
    expect(seen?.address).toContain("/v1/__base/uploads.example/v2/files/1");
    expect(seen?.body).toContain('name="file"; filename="a%22b.gif"\r\nContent-Type: image/png');
  });

  test("bytes and text as whole bodies", async () => {
    const { seen } = await call("put_bytes", { name: "a b", content: "/wAB" });
    expect(seen).toMatchObject({
      address: "/v1/bytes/;name=a%20b",
      input: { name: "a b", content: "/wAB" },
      status: 204,
    });
    const said = await call("say", { text: "# ü\n" });
    expect(said.seen).toMatchObject({ input: { text: "# ü\n" } });
    expect(said.result.structuredContent).toEqual({ text: "# ü\n" });
  });

  test("query, headers and cookies, with constants and computed values; response headers become fields", async () => {
    const args = { ids: [1, 2], filter: { name: "x", sizes: [3, 4] }, session: "s; t", trace: "abc" };
    const { seen, result } = await call("search", args);
    expect(seen).toMatchObject({ input: args, status: 200 });
    expect(result.structuredContent).toEqual({ items: ["a", "b"], total: 7, links: ["x", "y"] });
    expect(result.content[0]?.text).toBe("7 in all");
  });

  test("forms with a style for one field", async () => {
    const { seen } = await call("form", { name: "n", filter: { name: "x", sizes: [1] } });
    expect(seen?.body).toBe("name=n&filter%5Bname%5D=x&filter%5Bsizes%5D%5B0%5D=1");
    expect(seen?.input).toEqual({ name: "n", filter: { name: "x", sizes: [1] } });
  });

  test("a POST without a body, a DELETE with an optional one, and HEAD", async () => {
    expect((await call("ping", {})).seen).toMatchObject({ method: "POST", body: "", status: 204 });
    const removed = await call("remove", { id: "1", note: null });
    expect(removed.seen).toMatchObject({ method: "DELETE", body: `{"note":null}` });
    // A 204 has no JSON, although the file says so.
    expect(removed.result.structuredContent).toEqual({ all: [] });
    expect((await call("remove", { id: "2" })).seen).toMatchObject({ body: "" });
    expect((await call("exists", { id: "1" })).seen).toMatchObject({ method: "HEAD", tool: "exists" });
  });
});

describe("files in answers", () => {
  test("an image is an image in the result", async () => {
    const { result } = await call("photo", { id: "1" });
    expect(result.content).toContainEqual(expect.objectContaining({ type: "image", data: PNG, mimeType: "image/png" }));
    expect(result.structuredContent).toEqual({ contentType: "image/png", size: 8 });
    expect(result.content[0]?.text).toBe("8 bytes of image/png");
  });

  test("a small file is a resource and a larger one a link, both readable by their caller, without secrets", async () => {
    const small = await call("sheet", { id: "small" });
    const resource = small.result.content.find(({ type }) => type === "resource")?.resource;
    expect(Buffer.from(resource?.blob ?? "", "base64").toString()).toBe("a,•••");
    expect(small.result.structuredContent).toEqual({ etag: "e1", contentType: "text/csv", size: 12 });

    const { result } = await call("sheet", { id: "big" });
    const link = result.content.find(({ type }) => type === "resource_link");
    expect(link).toMatchObject({ mimeType: "text/csv" });
    const id = String(link?.uri).split("/").at(-1) ?? "";
    const kept = runner.findResult("ann", id);
    expect(kept?.mimeType).toBe("text/csv");
    expect(Buffer.from(kept?.content ?? "").toString()).not.toContain("demo-token");
    expect(runner.findResult("bob", id)).toBeUndefined();
  });

  test("a file beyond the download limit is refused", async () => {
    const result = await runner.call("sheet", { id: "huge" });
    expect(result).toMatchObject({ isError: true });
    expect(result.content[0]?.text).toContain("larger than the limit");
  });

  test("an answer of any kind is read by its content type", async () => {
    expect((await call("anything", { id: "1" })).result.structuredContent).toEqual({ text: "anything was called." });
  });
});
