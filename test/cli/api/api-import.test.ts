import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, rm, symlink } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { NexusWorld } from "../../fixtures/nexus.ts";

const DESCRIPTION = `openapi: 3.0.3
info: { title: Boat hire, version: "1.0" }
servers: [{ url: https://boats.example/v1 }]
tags: [{ name: boats }, { name: hires }]
paths:
  /boats:
    get:
      operationId: listBoats
      tags: [boats]
      summary: Lists the boats.
      parameters:
        - { name: length, in: query, schema: { type: integer, minimum: 1, maximum: 30 } }
      responses:
        "200":
          description: Boats
          content:
            application/json:
              schema: { type: array, items: { $ref: "#/components/schemas/Boat" } }
  /hires:
    post:
      operationId: createHire
      tags: [hires]
      summary: Hires a boat.
      requestBody:
        required: true
        content:
          application/json:
            schema:
              type: object
              required: [boat]
              properties: { boat: { type: string, maxLength: 40 }, days: { type: integer, maximum: 14 } }
      responses:
        "200": { description: Hired, content: { application/json: { schema: { type: object, properties: { id: { type: string } } } } } }
  /hires/{id}:
    delete:
      operationId: endHire
      tags: [hires]
      summary: Ends a hire.
      parameters: [{ name: id, in: path, required: true, schema: { type: string } }]
      responses: { "204": { description: Ended } }
components:
  schemas:
    Boat: { type: object, properties: { name: { type: string }, length: { type: integer } } }
`;

interface Imported {
  file: string;
  tools: { name: string; operation: string; inputSchema: object }[];
  skipped: { operation: string; reason: string }[];
  questions: object[];
  taken?: { path: string; what: string }[];
  edited?: { path: string; what: string }[];
  proposed?: { path: string; mine: unknown; theirs: unknown; changes: { kind: string }[] }[];
}

const PROJECT = "home/work/project";

let world: NexusWorld;
beforeAll(async () => {
  world = await NexusWorld.open();
  await world.write(`${PROJECT}/boats.yaml`, DESCRIPTION);
});
afterAll(() => world[Symbol.asyncDispose]());

const run = (...words: string[]) => world.run(["api", ...words]);

async function imported(...words: string[]): Promise<Imported> {
  const { code, stdout, stderr } = await run("import", ...words, "--json");
  expect(stderr).toBe("");
  expect(code).toBe(0);
  return JSON.parse(stdout) as Imported;
}

describe("nexus api import", () => {
  test("X5: writes a tool file and a copy of the description, and says what to do next", async () => {
    const { code, stdout } = await run("import", "boats.yaml", "--out", "first");
    expect(code).toBe(0);
    expect(stdout).toContain("Made first/boat-hire.nexus.yaml with 3 tools");
    expect(stdout).toContain("Requests go to https://");
    expect(stdout).toContain("nexus api approve first/boat-hire.nexus.yaml");
    expect((await readdir(join(world.project, "first"))).toSorted()).toEqual(["boat-hire.nexus.yaml", "boats.yaml"]);
    expect(await world.read(`${PROJECT}/first/boats.yaml`)).toBe(DESCRIPTION);
    expect(await run("check", "first/boat-hire.nexus.yaml")).toMatchObject({ code: 0 });
    expect(await run("test", "first/boat-hire.nexus.yaml")).toMatchObject({ code: 0 });
  });

  test("X5: comments and trailing commas in JSON are ignored, and the summary says so", async () => {
    const text = `// a head\n{ "openapi": "3.0.3", /* why */ "info": { "title": "Loose", "version": "1", },
  "servers": [{ "url": "https://loose.example" }], "paths": { "/a": { "get": { "responses": {} } } } }\n`;
    await world.write(`${PROJECT}/loose.json`, text);
    const { code, stdout } = await run("import", "loose.json", "--out", "loose");
    expect(code).toBe(0);
    expect(stdout).toContain("Requests go to https://loose.example/");
    expect(stdout).toContain(
      "Comments and commas before a closing bracket are not JSON (the first in line 1, column 1)",
    );
    expect(await run("check", "loose/loose.nexus.yaml")).toMatchObject({ code: 0 });
    expect(await run("import", "loose.json", "--out", "loose")).toMatchObject({ code: 0 });
  });

  test("X5: --json has each tool with its operation and input schema", async () => {
    const { tools, skipped, file } = await imported("boats.yaml", "--out", "json");
    expect(file).toBe(join(world.project, "json", "boat-hire.nexus.yaml"));
    expect(skipped).toEqual([]);
    expect(tools).toContainEqual(
      expect.objectContaining({
        name: "create_hire",
        operation: "POST /hires",
        inputSchema: expect.objectContaining({ required: ["boat"] }) as object,
      }),
    );
  });

  test("X5: a description in several folders says what was not read, and is whole with --root", async () => {
    await world.write(
      `${PROJECT}/specs/common/id.yaml`,
      "{ name: id, in: query, required: true, schema: { type: integer } }\n",
    );
    await world.write(
      `${PROJECT}/specs/main/api.yaml`,
      `openapi: 3.0.3
info: { title: Parts, version: "1" }
servers: [{ url: https://parts.example }]
paths:
  /parts:
    get: { $ref: "operations/list.yaml" }
    post: { responses: { "204": { description: Made } } }
`,
    );
    await world.write(
      `${PROJECT}/specs/main/operations/list.yaml`,
      `operationId: listParts
parameters: [{ $ref: "../../common/id.yaml" }]
responses:
  "200":
    description: Parts
    content: { application/json: { schema: { type: object, properties: { n: { type: integer } } }, example: { n: 3 } } }
`,
    );
    const { code, stdout } = await run("import", "specs/main/api.yaml", "--out", "parts");
    expect(code).toBe(0);
    expect(stdout).toContain("does not exist or is not loaded: GET /parts (../../common/id.yaml)");
    expect(stdout).toContain("The file ../common/id.yaml was not read");
    expect(stdout).toContain("--root");
    const whole = await imported("specs/main/api.yaml", "--root", "specs", "--out", "whole");
    expect(whole.skipped).toEqual([]);
    expect(whole.tools.map(({ name }) => name)).toEqual(["list_parts", "post_parts"]);
    const stale = ["stale", "whole/parts.nexus.yaml", "--document", "specs/main/api.yaml"];
    expect(await run(...stale, "--root", "specs")).toMatchObject({ code: 0 });
    expect(await run("import", "boats.yaml", "--root", "nowhere")).toMatchObject({ code: 2 });

    const tested = await run("test", "whole/parts.nexus.yaml");
    expect(tested.code).toBe(0);
    expect(tested.stdout).toMatch(/ok +list_parts: made-up arguments/);
    expect(tested.stdout).toMatch(/ok +post_parts: /);
  });

  test("--select takes only some operations and lists the others with the reason", async () => {
    const { tools, skipped } = await imported(
      "boats.yaml",
      "--out",
      "some",
      "--select",
      "tag:hires",
      "--select=-destructive",
    );
    expect(tools.map(({ name }) => name)).toEqual(["create_hire"]);
    expect(skipped).toEqual([
      expect.objectContaining({ operation: "GET /boats", reason: "not-selected" }),
      expect.objectContaining({ operation: "DELETE /hires/{id}", reason: "not-selected" }),
    ]);
    const { tools: again } = await imported("boats.yaml", "--out", "some");
    expect(again.map(({ name }) => name)).toEqual(["create_hire"]);
  });

  test.skipIf(!existsSync("/proc/self"))("a folder that cannot be made is wrong usage, at once", async () => {
    const { code, stderr } = await run("import", "boats.yaml", "--out", "/proc/nexus-folder");
    expect(code).toBe(2);
    expect(stderr).toContain("The folder /proc/nexus-folder cannot be made");
  });

  test("--dry-run writes nothing", async () => {
    const { code, stdout } = await run("import", "boats.yaml", "--out", "dry", "--dry-run");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^Would make /);
    await expect(readdir(join(world.project, "dry"))).rejects.toThrow("ENOENT");
  });

  test.each([
    ["missing.yaml", undefined, 3, "does not exist"],
    ["empty.yaml", "", 3, "is empty"],
    ["page.html", "<!doctype html><html><body>API</body></html>", 3, "page.html is an HTML page that names no request"],
    [
      "swagger-ui.json",
      `<!doctype html><html><body><script>ui({ url: "/v2/openapi.json" })</script></body></html>`,
      3,
      "The page refers to /v2/openapi.json: import that",
    ],
    [
      "comment.json",
      '{\n  // the version\n  "openapi": "3.0.0",\n  "paths": { "/a" {} }\n}\n',
      3,
      "comment.json is not valid JSON in line 4, column 19: a colon is missing here",
    ],
    [
      "nothing-to-serve.yaml",
      `openapi: 3.1.0
info: { title: Nothing, version: "1" }
paths: { /a: { get: { parameters: [{ $ref: "#/components/parameters/none" }], responses: {} } } }
webhooks: { told: { post: { responses: {} } } }
`,
      3,
      "No tool can be made of nothing-to-serve.yaml, so nothing could be served. Left out: 1 it refers to a part that does not exist or is not loaded: GET /a (#/components/parameters/none); 1 a webhook or callback",
    ],
    [
      "service.wsdl",
      '<?xml version="1.0"?><definitions xmlns="http://schemas.xmlsoap.org/wsdl/" name="S"></definitions>',
      3,
      "service.wsdl has no operations",
    ],
    ["package.json", '{ "name": "thing", "version": "1.0.0", "dependencies": {} }', 3, "not an API description"],
    ["broken.json", '{ "openapi": "3.0.0", ', 3, "not valid"],
  ])("refuses %s with a message and exit code 3", async (name, content, exit, message) => {
    if (content !== undefined) await world.write(`${PROJECT}/${name}`, content);
    const { code, stderr, stdout } = await run("import", name, "--out", "refused");
    expect(stdout).toBe("");
    expect(stderr).toContain(message);
    expect(code).toBe(exit);
    await expect(readdir(join(world.project, "refused"))).rejects.toThrow("ENOENT");
  });

  test.each([
    [["import"], 2],
    [["import", "boats.yaml", "--rest", "all"], 2],
    [["import", "boats.yaml", "--base", "ftp://boats.example"], 2],
    [["import", "boats.yaml", "--name", "Boats!"], 2],
    [["import", "boats.yaml", "--select", "-"], 2],
  ])("refuses wrong usage %j with exit code 2", async (words, exit) => {
    const { code, stderr } = await run(...words);
    expect(stderr).not.toBe("");
    expect(code).toBe(exit);
  });
});

describe("nexus api import from an address", () => {
  let server: Server;
  let address: string;
  beforeAll(async () => {
    server = createServer((request, response) => {
      if (request.url === "/slow.yaml") return;
      response.statusCode = request.url === "/openapi.yaml" ? 200 : 404;
      response.end(DESCRIPTION);
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  test("a private address is refused with what to do, and read when its host is allowed", async () => {
    const refused = await run("import", `${address}/openapi.yaml`, "--out", "url");
    expect(refused.code).toBe(8);
    expect(refused.stderr).toContain("--allow-host 127.0.0.1");
    const { tools } = await imported(`${address}/openapi.yaml`, "--out", "url", "--allow-host", "127.0.0.1");
    expect(tools).toHaveLength(3);
    expect(await world.read(`${PROJECT}/url/boat-hire.nexus.yaml`)).toContain(`source: ${address}/openapi.yaml`);
  });

  test("another status than 200 fails with the address", async () => {
    const { code, stderr } = await run("import", `${address}/none.yaml`, "--allow-host", "127.0.0.1");
    expect(stderr).toContain("404");
    expect([4, 5]).toContain(code);
  });

  test("--timeout limits how long an address may take", async () => {
    const { code, stderr } = await run(
      "import",
      `${address}/slow.yaml`,
      "--allow-host",
      "127.0.0.1",
      "--timeout",
      "50ms",
    );
    expect(stderr).toContain("/slow.yaml did not answer within 50 ms");
    expect(code).toBe(7);
  });

  test("Ctrl-C while it loads ends it with 130 and leaves no files", async () => {
    const words = ["api", "import", `${address}/slow.yaml`, "--out", "slow", "--allow-host", "127.0.0.1"];
    const asked = once(server, "request");
    const { child } = world.start(words);
    await asked;
    child.kill("SIGINT");
    const [code] = (await once(child, "close")) as [number | null];
    expect(code).toBe(130);
    await expect(readdir(join(world.project, "slow"))).rejects.toThrow("ENOENT");
  });
});

describe("nexus api import of a description that was imported before", () => {
  const FILE = `${PROJECT}/again/boats.nexus.yaml`;
  const importNew = (...words: string[]) =>
    run("import", "newer/boats.yaml", "--name", "boats", "--out", "again", ...words);
  let original: string;
  let edited: string;

  beforeAll(async () => {
    expect(await run("import", "boats.yaml", "--name", "boats", "--out", "again")).toMatchObject({ code: 0 });
    original = await world.read(FILE);
    edited = original
      .replace("Lists the boats.", "Lists all boats of the harbour.")
      .replace("title: Boat hire", "title: Boats # the short name")
      .replace("Hires a boat.", "Hires a boat for some days.");
    await world.write(FILE, edited);
    expect(await run("approve", "again/boats.nexus.yaml", "--by", "Ada", "--yes")).toMatchObject({ code: 0 });
    await world.write(
      `${PROJECT}/newer/boats.yaml`,
      DESCRIPTION.replace("Hires a boat.", "Hires a boat at once.")
        .replace("maximum: 14", "maximum: 7")
        .replace(/ {2}\/hires\/\{id\}:[^]*?(?=components:)/, "")
        .replace(
          "components:",
          '  /piers:\n    get:\n      operationId: listPiers\n      tags: [boats]\n      responses: { "200": { description: Piers, content: { application/json: { schema: { type: object } } } } }\ncomponents:',
        ),
    );
  });

  test("X6: nothing changed in the description: the file stays byte for byte, edits included", async () => {
    const { code, stdout } = await run("import", "boats.yaml", "--name", "boats", "--out", "again");
    expect(code).toBe(0);
    expect(stdout).toContain("again/boats.nexus.yaml is up to date; nothing was changed.");
    expect(await world.read(FILE)).toBe(edited);
    expect(await run("diff", "again/boats.nexus.yaml")).toMatchObject({ code: 0 });
  });

  test("X6: --dry-run shows what would be merged and writes nothing", async () => {
    const { code, stdout } = await importNew("--dry-run");
    expect(code).toBe(0);
    expect(stdout).toContain("Would update again/boats.nexus.yaml");
    expect(await world.read(FILE)).toBe(edited);
    expect(await world.read(`${PROJECT}/again/boats.yaml`)).toBe(DESCRIPTION);
  });

  test("X6: edits stay, changes of the description are taken over, and both are proposed with the consequence", async () => {
    const stale = await run("stale", "again/boats.nexus.yaml", "--document", "newer/boats.yaml", "--json");
    expect(stale.code).toBe(10);
    const places = (JSON.parse(stale.stdout) as { stale: { path: string }[] }).stale.map(({ path }) => path);
    expect(places).toEqual(expect.arrayContaining(["tools.create_hire", "tools.end_hire"]));

    const { code, stdout } = await importNew("--json");
    expect(code).toBe(0);
    const { taken = [], edited: stays = [], proposed = [], tools } = JSON.parse(stdout) as Imported;
    expect(taken).toEqual(
      expect.arrayContaining([
        { path: "tools.end_hire", what: "removed" },
        { path: "tools.list_piers", what: "added" },
      ]),
    );
    expect(taken.some(({ path }) => path.startsWith("types.CreateHire"))).toBe(true);
    expect(stays).toEqual([
      { path: "title", what: "changed" },
      { path: "tools.list_boats.description", what: "changed" },
      { path: "tools.create_hire.description", what: "changed" },
    ]);
    expect(proposed).toEqual([
      expect.objectContaining({
        path: "tools.create_hire.description",
        mine: "Hires a boat for some days.",
        theirs: "Hires a boat at once.",
        changes: [expect.objectContaining({ kind: "description changed" })],
      }),
    ]);
    expect(tools.map(({ name }) => name)).toContain("list_piers");

    const text = await world.read(FILE);
    expect(text).toContain("title: Boats # the short name");
    expect(text).toContain("Lists all boats of the harbour.");
    expect(text).toContain("Hires a boat for some days.");
    expect(text).toContain("list_piers:");
    expect(text).not.toContain("end_hire:");
    expect(await world.read(`${PROJECT}/again/boats.yaml`)).toBe(await world.read(`${PROJECT}/newer/boats.yaml`));
    expect(await run("check", "again/boats.nexus.yaml")).toMatchObject({ code: 0 });
    expect(await run("test", "again/boats.nexus.yaml")).toMatchObject({ code: 0 });
  });

  test("X6: nexus api diff and stale tell the same after the import, and a second import changes nothing", async () => {
    const diff = await run("diff", "again/boats.nexus.yaml", "--json");
    expect(diff.code).toBe(8);
    const { changes } = JSON.parse(diff.stdout) as { changes: { kind: string; path: string }[] };
    expect(changes.map(({ path }) => path)).toEqual(expect.arrayContaining(["list_piers", "end_hire"]));
    expect(changes.map(({ kind }) => kind)).toContain("input narrowed");
    expect(await run("stale", "again/boats.nexus.yaml", "--document", "newer/boats.yaml")).toMatchObject({
      code: 0,
      stdout: "Nothing is stale.\n",
    });
    const before = await world.read(FILE);
    expect(await importNew()).toMatchObject({ code: 0, stdout: expect.stringContaining("is up to date") as string });
    expect(await world.read(FILE)).toBe(before);
  });

  test("X6: a description beside the tool file that was replaced in place is merged with its kept copy", async () => {
    const importPlace = (...more: string[]) =>
      run("import", "place/boats.yaml", "--name", "boats", "--out", "place", ...more);
    const file = `${PROJECT}/place/boats.nexus.yaml`;
    await world.write(`${PROJECT}/place/boats.yaml`, DESCRIPTION);
    expect(await importPlace()).toMatchObject({ code: 0 });
    expect(await world.read(`${PROJECT}/place/boats.yaml.base`)).toBe(DESCRIPTION);
    for (const [most, summary] of [
      [7, "Hires a boat at once."],
      [5, "Hires one boat."],
    ] as const) {
      const text = await world.read(file);
      await world.write(
        file,
        text
          .replace("Lists the boats.", "Lists all boats of the harbour.")
          .replace("Hires a boat.", "Hires a boat for some days."),
      );
      const newer = DESCRIPTION.replace("maximum: 14", `maximum: ${most}`).replace("Hires a boat.", summary);
      await world.write(`${PROJECT}/place/boats.yaml`, newer);
      const { code, stdout } = await importPlace("--json");
      expect(code).toBe(0);
      const { edited: stays = [], proposed = [], ...rest } = JSON.parse(stdout) as Imported;
      expect(rest).not.toHaveProperty("lostDocuments");
      expect(stays.map(({ path }) => path)).toEqual(["tools.list_boats.description", "tools.create_hire.description"]);
      expect(proposed.map(({ path, theirs }) => [path, theirs])).toEqual([["tools.create_hire.description", summary]]);
      const merged = await world.read(file);
      expect(merged).toContain(`maximum: ${most}`);
      expect(merged).toContain("Lists all boats of the harbour.");
      expect(merged).toContain("Hires a boat for some days.");
      expect(await world.read(`${PROJECT}/place/boats.yaml.base`)).toBe(newer);
      expect(await run("check", "place/boats.nexus.yaml")).toMatchObject({ code: 0 });
    }
  });

  test("a description that was replaced and whose copy is gone is merged without it, and all differences are proposed", async () => {
    await world.write(`${PROJECT}/gone/boats.yaml`, DESCRIPTION);
    expect(await run("import", "gone/boats.yaml", "--name", "boats", "--out", "gone")).toMatchObject({ code: 0 });
    await world.write(`${PROJECT}/gone/boats.yaml`, DESCRIPTION.replace("maximum: 14", "maximum: 7"));
    await rm(join(world.project, "gone/boats.yaml.base"));
    const { code, stdout } = await run("import", "gone/boats.yaml", "--name", "boats", "--out", "gone");
    expect(code).toBe(0);
    expect(stdout).toContain("The old version of openapi is not beside the file any more");
    expect(stdout).toContain("input narrowed");
    expect(await world.read(`${PROJECT}/gone/boats.nexus.yaml`)).toContain("maximum: 14");
    expect(await run("check", "gone/boats.nexus.yaml")).toMatchObject({ code: 0 });
  });

  test("an import that was ended between its two files is continued by the next one", async () => {
    await world.write(`${PROJECT}/ended/old.yaml`, DESCRIPTION);
    expect(await run("import", "ended/old.yaml", "--name", "boats", "--out", "ended/out")).toMatchObject({ code: 0 });
    const newer = DESCRIPTION.replace("maximum: 14", "maximum: 7");
    await world.write(`${PROJECT}/ended/new.yaml`, newer);
    expect(await run("import", "ended/new.yaml", "--name", "boats", "--out", "ended/out")).toMatchObject({ code: 0 });
    // As it is when the program ends after the tool file and before the document.
    await world.write(`${PROJECT}/ended/out/old.yaml.new`, newer);
    await world.write(`${PROJECT}/ended/out/old.yaml`, DESCRIPTION);
    await world.write(`${PROJECT}/ended/newest.yaml`, newer.replace("maximum: 7", "maximum: 5"));
    const { code, stdout } = await run("import", "ended/newest.yaml", "--name", "boats", "--out", "ended/out");
    expect(code).toBe(0);
    expect(stdout).not.toContain("is not beside the file any more");
    expect(await world.read(`${PROJECT}/ended/out/boats.nexus.yaml`)).toContain("maximum: 5");
    expect(await run("check", "ended/out/boats.nexus.yaml")).toMatchObject({ code: 0 });
  });

  test("a file with mistakes is not merged", async () => {
    const path = await world.write(
      `${PROJECT}/wrong/boats.nexus.yaml`,
      original.replace("effect: read", "effect: reed"),
    );
    const { code, stderr } = await run("import", "boats.yaml", "--name", "boats", "--out", "wrong");
    expect(code).toBe(3);
    expect(stderr).toContain("nexus api check");
    expect(await world.read(path.slice(world.root.length + 1))).toContain("effect: reed");
  });
});

test("a file in the place of the folder is a mistake on the command line, and nothing is written", async () => {
  const folders = ["boats.yaml", "boats.yaml/deeper/still"];
  for (const folder of folders) {
    const { code, stderr } = await run("import", "boats.yaml", "--name", "hire", "--out", folder);
    expect([code, stderr]).toEqual([2, expect.stringContaining("boats.yaml is a file, not a folder")]);
    expect(stderr).toContain("--out api/shop");
  }
  await symlink("nowhere", join(world.project, "dangling"));
  const { code, stderr } = await run("import", "boats.yaml", "--name", "hire", "--out", "dangling");
  expect([code, stderr]).toEqual([2, expect.stringContaining("dangling is a link to something that does not exist")]);
  expect(await world.read(`${PROJECT}/boats.yaml`)).toBe(DESCRIPTION);
});

test("a link in the folder of the tool file is replaced, and what it points to is not written", async () => {
  const outside = await world.write("outside.yaml", "mine\n");
  await mkdir(join(world.project, "linked"), { recursive: true });
  for (const name of ["boats.yaml", "boats.yaml.new"]) await symlink(outside, join(world.project, "linked", name));
  await run("import", "boats.yaml", "--name", "hire", "--out", "linked");
  await symlink(outside, join(world.project, "linked", "hire.nexus.lock"));
  await run("approve", "linked/hire.nexus.yaml", "--by", "Ada", "--yes");
  expect(await world.read("outside.yaml")).toBe("mine\n");
});

test("X9: no credential of a collection is in the copy, in the tool file, or in a person's file that is changed", async () => {
  const request = {
    method: "GET",
    url: "https://shop.example/orders",
    header: [{ key: "X-Api-Key", value: "hunter2x-12345" }],
  };
  const text = JSON.stringify({
    info: { name: "Till", schema: "https://schema.getpostman.com/json/collection/v2.1.0/collection.json" },
    auth: { type: "bearer", bearer: [{ key: "token", value: "hunter2x-12345" }] },
    item: [{ name: "List orders", request }],
  });
  const folder = "home/work/project/till";
  await world.write(`${folder}/till.json`, text);
  const run = (...more: string[]) =>
    world.run(["api", "import", "till/till.json", "--out", "till", "--name", "till", ...more]);
  expect((await run()).code).toBe(0);
  expect(await world.read(`${folder}/till.json`)).toBe(text);
  const file = await world.read(`${folder}/till.nexus.yaml`);
  const copy = await world.read(`${folder}/till.postman.json`);
  for (const written of [file, copy]) expect(written).not.toContain("hunter2x");
  expect(file).toContain("Credentials were left out of the copy");
  expect(file).toContain("file: till.postman.json");

  expect((await run()).code).toBe(0);
  expect(await world.read(`${folder}/till.nexus.yaml`)).toBe(file);
  const stale = await world.run(["api", "stale", "till/till.nexus.yaml", "--document", "till/till.json"]);
  expect(stale.stdout).toContain("Nothing is stale.");
  expect(stale.code).toBe(0);
});
