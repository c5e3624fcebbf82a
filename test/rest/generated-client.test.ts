import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serveForGuide } from "../fixtures/guide-gateway.ts";
import { NexusWorld } from "../fixtures/nexus.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../..", import.meta.url));
/** Installed by: npm ci --prefix test/tools --ignore-scripts */
const TOOLS = join(ROOT, "test/tools/node_modules");
const GENERATOR = join(TOOLS, "openapi-typescript/bin/cli.js");
const CLIENT = join(TOOLS, "openapi-fetch");
const VALIDATOR = join(TOOLS, "@redocly/openapi-core");
const COMPILER = join(ROOT, "node_modules/typescript/bin/tsc");

const TSCONFIG = {
  compilerOptions: {
    target: "ES2022",
    lib: ["ES2023"],
    types: ["node"],
    module: "NodeNext",
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    verbatimModuleSyntax: true,
    skipLibCheck: true,
  },
  include: ["*.ts"],
};

/** Prints one JSON object with what it got. */
const PROGRAM = `
import createClient from "openapi-fetch";
import type { components, paths } from "./gateway-api.js";

const client = createClient<paths>({
  baseUrl: \`\${process.env["NEXUS_GATEWAY"]}/api/v1\`,
  headers: { Authorization: \`Bearer \${process.env["NEXUS_KEY"]}\` },
});
const path = { tenant: "default" };

const ids: string[] = [];
for (const name of ["first", "second", "third"]) {
  const { data, error } = await client.POST("/tenants/{tenant}/keys", {
    params: { path, header: { "Idempotency-Key": name } },
    body: { name, allow: ["demo"], limits: { perDay: 500 } },
  });
  if (error) throw new Error(error.detail);
  ids.push(data.id);
}
const [id = ""] = ids;

const pages: string[][] = [];
let cursor: string | undefined;
do {
  const { data, error } = await client.GET("/tenants/{tenant}/keys", {
    params: { path, query: { limit: 2, ...(cursor === undefined ? {} : { cursor }) } },
  });
  if (error) throw new Error(error.detail);
  pages.push(data.items.map((key: components["schemas"]["Key"]) => key.name));
  cursor = data.next ?? undefined;
} while (cursor !== undefined);

const grants = await client.PUT("/tenants/{tenant}/keys/{id}/grants", {
  params: { path: { ...path, id } },
  body: { allow: ["demo.echo"] },
});
const denied: string[] | undefined = grants.data?.deny;
const rotated = await client.POST("/tenants/{tenant}/keys/{id}/rotate", { params: { path: { ...path, id } }, body: {} });

const set = await client.POST("/tenants/{tenant}/sets", {
  params: { path },
  body: { name: "support", allow: ["demo.echo"], description: "For support." },
});
const audit = await client.GET("/tenants/{tenant}/audit", { params: { path, query: { server: "demo", limit: 5 } } });
const exported = await client.GET("/tenants/{tenant}/audit/export", {
  params: { path, query: { server: "demo" } },
  parseAs: "text",
});
const lines: string = exported.data ?? "";

const wrongBody = await client.POST("/tenants/{tenant}/keys", {
  params: { path },
  // @ts-expect-error A key needs patterns, and has no such role.
  body: { name: "fourth", role: "root" },
});
// @ts-expect-error There is no such path.
await client.GET("/tenants/{tenant}/kees", { params: { path } });
const unknownKey = await client.GET("/tenants/{tenant}/keys/{id}", { params: { path: { ...path, id: "nothing" } } });
const revoked = await client.DELETE("/tenants/{tenant}/keys/{id}", { params: { path: { ...path, id } } });

console.log(
  JSON.stringify({
    pages,
    denied,
    hasNewSecret: rotated.data?.key.startsWith("nxs_"),
    set: set.data?.path,
    audit: audit.data?.items.map(({ method, target, outcome }) => ({ method, target, outcome })),
    exported: lines.trim().split("\\n").length,
    wrongBody: { status: wrongBody.error?.status, at: wrongBody.error?.errors?.map(({ at }) => at) },
    unknownKey: { status: unknownKey.response.status, code: unknownKey.error?.code },
    revoked: typeof revoked.data?.revoked,
  }),
);
`;

/** The used part of the validator. */
interface Validator {
  createConfig(config: { extends: string[] }): Promise<unknown>;
  lintFromString(options: { source: string; config: unknown }): Promise<{ ruleId: string; message: string }[]>;
}

/** Where they are not installed, the title says that nothing was tried. */
const isThere = [GENERATOR, CLIENT, VALIDATOR].every((file) => existsSync(file));

describe.skipIf(!isThere)(`generated clients of the REST API${isThere ? "" : " (not installed: not tried)"}`, () => {
  let world: NexusWorld;
  let gateway: Awaited<ReturnType<typeof serveForGuide>>;
  let origin: string;
  let project: string;
  let key: string;

  beforeAll(async () => {
    world = await NexusWorld.open();
    project = join(world.root, "client");
    const env = { NEXUS_DATABASE: `file:${join(world.root, "nexus.db")}` };
    const created = await world.run(["keys", "create", "ops", "--allow", "*", "--role", "admin", "--json"], { env });
    ({ key } = JSON.parse(created.stdout) as { key: string });
    await world.configure({ demo: { command: process.execPath, args: [join(ROOT, "dist/demo/main.js")] } });
    gateway = await serveForGuide({ root: ROOT, home: world.home, env, args: ["--auth", "keys"] });
    ({ origin } = new URL(gateway.url));
  });
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]();
    await world[Symbol.asyncDispose]();
  });

  test("the OpenAPI document of a gateway is valid", async () => {
    const validator = createRequire(import.meta.url)(VALIDATOR) as Validator;
    const source = await (await fetch(`${origin}/api/v1/openapi.json`)).text();
    const config = await validator.createConfig({ extends: ["recommended"] });
    const problems = await validator.lintFromString({ source, config });
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });

  test("a TypeScript client generated from the OpenAPI document compiles and works", async () => {
    await call("tools/call", { name: "demo__echo", arguments: { text: "hello" } });
    await expect.poll(audited).toHaveLength(1);
    await compile();
    const { pages, ...rest } = JSON.parse(await runProgram("program.js")) as { pages: string[][] };
    expect(pages.map((names) => names.length)).toEqual([2, 2]);
    expect(pages.flat().toSorted()).toEqual(["first", "ops", "second", "third"]);
    expect(rest).toEqual({
      denied: [],
      hasNewSecret: true,
      set: "/sets/support/mcp",
      audit: [{ method: "tools/call", target: "demo__echo", outcome: "ok" }],
      exported: 1,
      wrongBody: { status: 400, at: ["body/role"] },
      unknownKey: { status: 404, code: "NAME_UNKNOWN" },
      revoked: "string",
    });
    expect(await runProgram("guide.js")).toMatch(/^\S+ ops admin$/m);
  });

  /** A request of revision 2026-07-28. */
  async function call(method: string, params: { name: string; arguments: object }): Promise<void> {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
    };
    const headers = {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      "mcp-name": params.name,
    };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } });
    const answer = await fetch(gateway.url, { method: "POST", headers, body });
    expect({ status: answer.status, text: await answer.text() }).toMatchObject({ status: 200 });
  }

  async function audited(): Promise<unknown[]> {
    const headers = { authorization: `Bearer ${key}` };
    const answer = await fetch(`${origin}/api/v1/tenants/default/audit`, { headers });
    return ((await answer.json()) as { items: unknown[] }).items;
  }

  /** A project with the generated types, the program above and the one of the guide. */
  async function compile(): Promise<void> {
    await mkdir(join(project, "node_modules/@types"), { recursive: true });
    await symlink(CLIENT, join(project, "node_modules/openapi-fetch"), "junction");
    await symlink(join(ROOT, "node_modules/@types/node"), join(project, "node_modules/@types/node"), "junction");
    await world.write("client/package.json", { private: true, type: "module" });
    await world.write("client/tsconfig.json", TSCONFIG);
    await world.write("client/program.ts", PROGRAM);
    const guide = await readFile(join(ROOT, "docs/guide/rest-api.md"), "utf8");
    await world.write("client/guide.ts", /^```ts\n([\s\S]*?)^```/m.exec(guide)?.[1] ?? "");
    const document = `${origin}/api/v1/openapi.json`;
    await run(process.execPath, [GENERATOR, document, "-o", "gateway-api.ts"], { cwd: project });
    await run(process.execPath, [COMPILER, "--checkers", "1"], { cwd: project }).catch(
      ({ stdout }: { stdout: string }) => {
        throw new Error(stdout);
      },
    );
  }

  async function runProgram(name: string): Promise<string> {
    const env = { PATH: process.env["PATH"], NEXUS_GATEWAY: origin, NEXUS_KEY: key };
    const { stdout } = await run(process.execPath, [join(project, name)], { cwd: project, env });
    return stdout;
  }
});
