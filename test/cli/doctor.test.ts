import { once } from "node:events";
import { chmod, readFile } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { userFolders } from "../../src/files/user-folders.ts";
import { HAS_TERMINAL, NexusWorld } from "../fixtures/nexus.ts";
import { childrenOf, isRunning } from "../fixtures/processes.ts";
import { selfSigned } from "../fixtures/self-signed.ts";
import { startHttpFixture, type HttpFixture } from "../fixtures/servers/http-fixture.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";

interface Check {
  id: string;
  verdict: string;
  evidence: string[];
  advice?: string[];
  error?: { code: string; message: string; hint?: string };
}

interface Report {
  servers: { server: string; verdict: string; checks: Check[] }[];
  files: { file: string; error?: { code: string } }[];
}

const SURROUNDINGS = { platform: process.platform, variables: {}, proxy: {}, extraCertificates: [] };

let world: NexusWorld;
let http: HttpFixture;
const closing: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  world = await NexusWorld.open();
  http = await startHttpFixture();
  closing.push(() => http.close());
});

afterAll(async () => {
  await Promise.all(closing.map((close) => close()));
  await world[Symbol.asyncDispose]();
});

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closing.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  return (server.address() as AddressInfo).port;
}

async function site(handler: RequestListener): Promise<{ url: string }> {
  return { url: `http://127.0.0.1:${await listening(createServer(handler))}/mcp` };
}

async function deadPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function script(name: string, text: string): Promise<{ command: string; args: string[] }> {
  return { command: process.execPath, args: [await world.write(name, text)] };
}

/** How long exactly was waited for an answer differs from run to run. */
function timeless(message: string | undefined): string | undefined {
  return message?.replace(/No answer to .* after [\d.]+ s/, "No answer");
}

function checksOf(report: Report, server: string): Record<string, Check> {
  const found = report.servers.find((one) => one.server === server);
  return Object.fromEntries((found?.checks ?? []).map((check) => [check.id, check]));
}

async function doctor(...args: string[]): Promise<{ code: number | null; report: Report; stderr: string }> {
  const { code, stdout, stderr } = await world.run(["mcp", "doctor", "--json", ...args]);
  return { code, report: JSON.parse(stdout) as Report, stderr };
}

describe("a server made of a tool file", () => {
  const api = join(process.cwd(), "api/museum/museum.nexus.yaml");

  test("X8: says where its calls go and which secrets are not stored", async () => {
    await world.configure({ museum: { api }, faked: { api, upstream: "fake" } });
    const { code, report } = await doctor();
    expect(code).toBe(0);
    const { upstream, secrets, lists } = checksOf(report, "museum");
    expect(upstream).toMatchObject({ verdict: "ok", evidence: ["https://api.museums.example/v1/"] });
    expect(secrets).toMatchObject({ verdict: "warning", evidence: ["not stored: museum.token"] });
    expect(secrets?.advice).toEqual(["nexus secrets set museum.token"]);
    expect(lists).toMatchObject({ verdict: "ok" });
    expect(checksOf(report, "faked")["secrets"]).toMatchObject({ verdict: "ok" });

    const misspelt = await world.run(["secrets", "set", "museum.tokn"], { stdin: "placeholder" });
    expect(misspelt.stdout).toContain("Entries use it as ${secret:museum.tokn}.");
    expect(misspelt.stderr).toContain('The tools of "museum" do not use museum.tokn; they use museum.token.');
    const again = ["mcp", "add", "museum", "--api", api, "--force"];
    expect((await world.run(again)).stdout).toContain("these secrets:\n  nexus secrets set museum.token\n");
    const right = await world.run(["secrets", "set", "museum.token"], { stdin: "placeholder" });
    expect(right).toMatchObject({
      stdout: expect.stringContaining('The tools of "museum" use it.') as string,
      stderr: "",
    });
    expect((await world.run(again)).stdout).not.toContain("secrets");
    const after = checksOf((await doctor("museum")).report, "museum");
    expect(after["secrets"]).toMatchObject({ verdict: "ok", evidence: ["museum.token"] });
  });
});

describe("a server that works", () => {
  test("passes every check of a process, with evidence for each", async () => {
    const { command, args } = stdioFixture(["--revision", "2026-07-28"]);
    await world.configure({ good: { command, args } });
    const { code, stdout, stderr } = await world.run(["mcp", "doctor", "good"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const line of [
      /^good {2}\S/,
      /✓ configuration +.*mcp\.json:3 \(user\)/,
      /✓ trusted +your own file/,
      /✓ variables +no variables are used/,
      /✓ command +.*node/,
      /✓ working folder/,
      /✓ starts +ready \d+ ms after its start/,
      /✓ stdout clean +messages only/,
      /✓ protocol +everything 1\.0\.0: revision 2026-07-28 \(modern\), detected/,
      /✓ capabilities +declares tools \(list changes\), resources \(.*subscribe.*\).*completions, logging/,
      /✓ lists +tools \d+, resources \d+, templates 1, prompts 5; \d+ ms/,
      /✓ schemas +\d+ checked/,
      /! model providers +\d+ definitions, about \d+ tokens/,
      /"allOf" at the top level: json_schema_2020_12_tool/,
      /· annotations +2 read-only/,
      /✓ latency +5 pings: min [\d.]+ ms, median [\d.]+ ms, max [\d.]+ ms/,
      /✓ stderr at start +nothing/,
      /✓ shutdown +exited \d+ ms after its stdin was closed/,
      /1 server checked, 1 with warnings\n$/,
    ]) {
      expect(stdout).toMatch(line);
    }
    // What it saw can be completed from now on.
    const state = userFolders({ ...SURROUNDINGS, home: world.home }).state;
    expect(await readFile(join(state, "seen", "good.json"), "utf8")).toContain(`"echo"`);
  });

  test("passes every check of HTTP, in either era and given in place", async () => {
    const { code, report } = await doctor("--url", http.url, "--header", "Authorization: Bearer secret-token");
    expect(code).toBe(0);
    const checks = checksOf(report, `localhost-${new URL(http.url).port}`);
    expect(Object.keys(checks).slice(4, 10)).toEqual(["proxy", "dns", "tcp", "tls", "http", "authentication"]);
    expect(checks["tcp"]).toMatchObject({ verdict: "ok", evidence: [expect.stringMatching(/port \d+ accepts/)] });
    expect(checks["http"]?.evidence[0]).toMatch(/accepts requests, answers with application\/json|event-stream/);
    expect(checks["authentication"]?.evidence).toEqual(["accepted, with Authorization"]);
    expect(JSON.stringify(report)).not.toContain("secret-token");

    await using legacy = await startHttpFixture({ revision: "2025-06-18" });
    const old = checksOf((await doctor("--url", legacy.url)).report, `localhost-${new URL(legacy.url).port}`);
    expect(old["protocol"]).toMatchObject({ verdict: "note" });
    expect(old["protocol"]?.evidence[0]).toContain("2025-06-18 (legacy)");
  });

  test("says what is odd about it: noise, stderr, a process that does not end, two starts", async () => {
    const odd = stdioFixture(["--misbehave", "noise", "--misbehave", "ignore-stdin-end"]);
    const fragile = stdioFixture(["--revision", "2025-11-25", "--misbehave", "die-on-probe"]);
    await world.configure({ odd: { ...odd, command: odd.command, comand: "x" }, fragile });
    const { code, report, stderr } = await doctor();
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const checks = checksOf(report, "odd");
    expect(checks["configuration"]).toMatchObject({ verdict: "warning" });
    expect(checks["configuration"]?.evidence[1]).toContain(`unknown key "comand"; did you mean "command"?`);
    expect(checks["stdout"]).toMatchObject({ verdict: "warning" });
    expect(checks["stdout"]?.evidence).toContain("stdout: Listening… [not JSON]");
    expect(checks["shutdown"]).toMatchObject({ verdict: "note" });
    expect(checks["shutdown"]?.evidence[0]).toContain("did not exit when its stdin was closed");
    expect(checksOf(report, "fragile")["protocol"]?.evidence.join()).toContain("started 2 times");
  });
});

/** A server of the legacy era in a few lines, which declares and offers what is given. */
function smallServer(capabilities: object, answers: Record<string, unknown>): string {
  return `
    const answers = ${JSON.stringify({ initialize: { protocolVersion: "2025-11-25", capabilities, serverInfo: { name: "small", version: "1" } }, ping: {}, ...answers })};
    require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      if (id === undefined) return;
      const result = answers[method];
      const answer = result?.error ?? !result ? { error: result?.error ?? { code: -32601, message: "no " + method } } : { result };
      process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...answer }) + "\\n");
    });
    console.error("small: listening");`;
}

describe("what a server offers", () => {
  test("lists, schemas and names are judged, undeclared lists are noticed", async () => {
    const inputSchema = { type: "object" };
    const tools = [
      { name: "twice", inputSchema, description: "one" },
      { name: "twice", inputSchema, description: "two" },
      { name: "", inputSchema, description: "nameless" },
      { name: "a.very/odd name", inputSchema: { type: "object", properties: { "two words": { type: "int" } } } },
      { name: "listed", inputSchema: { type: "array" }, annotations: { readOnlyHint: true } },
      { name: "remote", inputSchema: { $ref: "https://example.com/schema.json" } },
    ];
    const answers = { "tools/list": { tools }, "resources/list": { resources: [{ uri: "a:b", name: "b" }] } };
    await world.configure({ small: await script("small.cjs", smallServer({ tools: {} }, answers)) });
    const { code, report } = await doctor("small");
    expect(code).toBe(0);
    const checks = checksOf(report, "small");
    const evidence = (id: string) => checks[id]?.evidence.join("\n");
    expect(evidence("capabilities")).toBe(`declares tools\nanswers resources/list but does not declare "resources"`);
    expect(checks["lists"]).toMatchObject({ verdict: "warning" });
    expect(evidence("lists")).toContain("the same tool twice: twice");
    expect(evidence("lists")).toContain(`skipped in tools/list of "small": "" ("name" is empty)`);
    expect(evidence("lists")).toContain(
      `repaired in tools/list of "small": "listed" ("inputSchema" is not valid), "remote" ("inputSchema.type" is missing)`,
    );
    expect(evidence("schemas")).toContain("remote: inputSchema: the schema cannot be used: it refers to");
    for (const fault of [
      `the argument name "two words": a.very/odd name`,
      `the type "int", which is not in JSON Schema: a.very/odd name`,
      "a.very/odd name → mcp__small__a_very_odd_name_",
      "without a description: a.very/odd name, listed, remote",
    ]) {
      expect(evidence("providers")).toContain(fault);
    }
    expect(evidence("stderr")).toContain("small: listening");
  });

  test("a declared list that does not answer fails with the server's error, and the rest is checked", async () => {
    const error = { code: -32603, message: "no database" };
    const text = smallServer({ tools: {}, prompts: {} }, { "tools/list": { tools: [] }, "prompts/list": { error } });
    await world.configure({ small: await script("small.cjs", text) });
    const { code, report } = await doctor();
    expect(code).toBe(5);
    const checks = checksOf(report, "small");
    expect(checks["lists"]).toMatchObject({ verdict: "failed", error: { code: "SERVER_ERROR" } });
    expect(checks["latency"]).toMatchObject({ verdict: "ok" });
    expect(checks["shutdown"]).toMatchObject({ verdict: "ok" });
  });

  test("a declared list without a method is empty, and not a failure (G1)", async () => {
    const text = smallServer({ tools: {}, resources: {} }, { "tools/list": { tools: [] } });
    await world.configure({ small: await script("small.cjs", text) });
    const { code, report } = await doctor();
    expect(code).toBe(0);
    expect(checksOf(report, "small")["lists"]).toMatchObject({ verdict: "ok" });
    expect((await world.run(["mcp", "connect", "small"])).code).toBe(0);
  });
});

/** Which check each failure of P1.9 is found by; the rest is compared with the error of an ordinary command. */
const CULPRITS: Record<string, { check: string; code: string }> = {
  "not-found": { check: "command", code: "COMMAND_NOT_FOUND" },
  forbidden: { check: "command", code: "PERMISSION_DENIED" },
  "no-folder": { check: "folder", code: "CONFIG_INVALID" },
  crash: { check: "starts", code: "SERVER_EXITED" },
  hangs: { check: "protocol", code: "TIMEOUT" },
  noisy: { check: "stdout", code: "TIMEOUT" },
  framed: { check: "stdout", code: "TIMEOUT" },
  future: { check: "protocol", code: "VERSION_UNSUPPORTED" },
  refused: { check: "tcp", code: "CONNECTION_FAILED" },
  "no-host": { check: "dns", code: "CONNECTION_FAILED" },
  "self-signed": { check: "tls", code: "CONNECTION_FAILED" },
  "http-hangs": { check: "http", code: "TIMEOUT" },
  "wants-login": { check: "authentication", code: "AUTH_REQUIRED" },
  "not-here": { check: "http", code: "HTTP_STATUS" },
  page: { check: "http", code: "NOT_MCP" },
  unset: { check: "variables", code: "CONFIG_INVALID" },
  "two-ways": { check: "configuration", code: "CONFIG_INVALID" },
};

describe("a server that does not work", () => {
  let report: Report;
  let exitCode: number | null;
  /** The errors of a command that only connects. */
  const ordinary = new Map<string, Check["error"]>();

  beforeAll(async () => {
    const plain = await world.write("plain.py", "print()\n");
    await chmod(plain, 0o644);
    const identity = await selfSigned();
    const challenge = { "WWW-Authenticate": 'Bearer realm="notes", resource_metadata="https://notes.example/meta"' };
    await world.configure({
      "not-found": { command: "mcp-no-such-server" },
      forbidden: { command: plain },
      "no-folder": { command: process.execPath, cwd: join(world.root, "absent") },
      crash: stdioFixture(["--misbehave", "die-at-start"]),
      hangs: { ...(await script("hangs.cjs", "process.stdin.resume();")), connection_timeout: "1s" },
      noisy: {
        ...(await script("noisy.cjs", `console.log("Server running on stdio"); process.stdin.resume();`)),
        connection_timeout: "4s",
      },
      framed: {
        ...(await script("framed.cjs", `console.log("Content-Length: 2"); process.stdin.resume();`)),
        connection_timeout: "4s",
      },
      future: stdioFixture(["--revision", "legacy", "--misbehave", "unknown-version"]),
      refused: { url: `http://127.0.0.1:${await deadPort()}/mcp` },
      "no-host": { url: "http://no-such-host.invalid/mcp" },
      ...(identity
        ? { "self-signed": { url: `https://localhost:${await listening(createSecureServer(identity))}/mcp` } }
        : {}),
      "http-hangs": { ...(await site(() => {})), connection_timeout: "4s" },
      "wants-login": await site((_request, response) => void response.writeHead(401, challenge).end()),
      "not-here": await site((_request, response) => void response.writeHead(404).end()),
      page: { url: (await startPage()).url },
      unset: { command: "node", env: { KEY: "${NEXUS_TEST_UNSET_KEY}", OTHER: "${HOME}" } },
      "two-ways": { command: "node", url: "http://127.0.0.1/mcp" },
    });
    const ran = await doctor();
    expect(ran.stderr).toBe("");
    report = ran.report;
    exitCode = ran.code;
    await Promise.all(
      report.servers.map(async ({ server }) => {
        const { stderr } = await world.run(["mcp", "ping", server, "--json"]);
        ordinary.set(server, (JSON.parse(stderr) as Check).error);
      }),
    );
  });

  async function startPage(): Promise<HttpFixture> {
    const server = await startHttpFixture({ misbehave: ["html"] });
    closing.push(() => server.close());
    return server;
  }

  test("different failures of several servers end with 4, and every server is reported", () => {
    expect(exitCode).toBe(4);
    expect(report.servers.map(({ verdict }) => verdict)).toEqual(report.servers.map(() => "failed"));
  });

  test.each(Object.entries(CULPRITS))(
    "%s: the right check fails, with the cause of the error (P1.9)",
    (id, { check, code }) => {
      if (id === "self-signed" && !ordinary.has(id)) return console.log("not tried: there is no openssl");
      const { checks = [] } = report.servers.find(({ server }) => server === id) ?? {};
      const failed = checks.filter(({ verdict }) => verdict === "failed");
      expect(failed.map((one) => [one.id, one.error?.code])).toEqual([[check, code]]);

      const error = ordinary.get(id);
      expect(failed[0]?.error?.code).toBe(error?.code);
      expect(timeless(failed[0]?.error?.message)).toBe(timeless(error?.message));
      expect(failed[0]?.error?.hint).toBe(error?.hint);
      expect(timeless(failed[0]?.evidence[0])).toBe(timeless(error?.message.split("\n")[0]));
      expect(failed[0]?.advice).not.toEqual([]);

      // What comes after it was skipped, with the reason, or was seen before.
      const after = checks.slice(checks.findIndex((one) => one.id === check) + 1);
      expect(after.filter(({ verdict }) => verdict === "failed")).toEqual([]);
      expect(after.filter(({ verdict, evidence }) => verdict === "skipped" && !evidence[0])).toEqual([]);
    },
  );

  test("the evidence shows what was seen: stderr, noise, certificate, challenge, names of variables without values", () => {
    const evidence = (id: string, check: string) => checksOf(report, id)[check]?.evidence.join("\n");
    expect(evidence("crash", "starts")).toContain("stderr: everything: cannot open the database");
    expect(evidence("noisy", "stdout")).toContain("Server running on stdio");
    expect(evidence("wants-login", "authentication")).toContain('requires: Bearer realm="notes"');
    expect(evidence("wants-login", "http")).toContain("HTTP 401");
    if (ordinary.has("self-signed"))
      expect(evidence("self-signed", "tls")).toMatch(/TLSv1\.\d, for localhost .*, by localhost/);
    expect(evidence("unset", "variables")).toContain("NEXUS_TEST_UNSET_KEY is not set\nHOME is set");
    expect(JSON.stringify(checksOf(report, "unset"))).not.toContain(world.home + '"');
  });

  test("one kind of failure ends with its own code, in text as in JSON", async () => {
    const codes: Record<string, number> = { crash: 4, hangs: 7, "wants-login": 8, unset: 3 };
    await Promise.all(
      Object.entries(codes).map(async ([id, code]) => {
        const ran = await world.run(["mcp", "doctor", id, ...(id === "hangs" ? ["--timeout", "500ms"] : [])]);
        expect(ran).toMatchObject({ code, stderr: "" });
        expect(ran.stdout).toMatch(/^ {2}✗ /m);
        expect(ran.stdout).toMatch(/^ +→ /m);
        expect(ran.stdout).toContain(`1 failed (${id})`);
      }),
    );
  });
});

test.skipIf(process.platform !== "linux")("Ctrl-C ends it with 130, and what it started with it", async () => {
  await world.configure({ hangs: await script("hangs.cjs", `process.stdin.resume(); console.error("here");`) });
  const { child } = world.start(["mcp", "doctor", "hangs"]);
  await expect.poll(() => childrenOf(child.pid ?? 0).length).toBeGreaterThan(0);
  const servers = childrenOf(child.pid ?? 0);
  child.kill("SIGINT");
  const [code] = (await once(child, "close")) as [number | null];
  expect(code).toBe(130);
  await expect.poll(() => servers.filter(isRunning)).toEqual([]);
});

test("a proxy that is not there is to blame, without its password", async () => {
  await world.configure({ behind: { url: "http://notes.example/mcp" } });
  const env = { HTTP_PROXY: `http://ann:secret@127.0.0.1:${await deadPort()}` };
  const { code, stdout } = await world.run(["mcp", "doctor", "behind"], { env });
  expect(code).toBe(4);
  expect(stdout).toMatch(/✗ proxy +The proxy http:\/\/127\.0\.0\.1:\d+ .* is not listening/);
  expect(stdout).not.toContain("secret");
});

describe("configuration", () => {
  test("a file that is no JSON is a finding, and the other files are checked all the same (P1.9)", async () => {
    await world.configure({ demo: stdioFixture() });
    const file = await world.write(
      "home/work/project/.nexus/mcp.json",
      `{ "mcpServers": { "notes": { "command" "node" } } }`,
    );
    const { code, report } = await doctor();
    expect(code).toBe(3);
    expect(report.files).toMatchObject([{ file, error: { code: "CONFIG_INVALID" } }, {}]);
    expect(report.servers).toMatchObject([{ server: "demo", verdict: "warning" }]);
    const text = await world.run(["mcp", "doctor"]);
    expect(text.code).toBe(3);
    expect(text.stdout).toMatch(/mcp\.json {2}project configuration\n {2}✗ configuration/);
    expect(text.stdout).toContain(`→ Correct it at ${file}:1:`);
    expect(text.stdout).toContain("1 unusable file");
  });

  test("a project that is not trusted fails with 8 and starts nothing; --trust lets it pass (P1.9)", async () => {
    await world.configure({});
    const witness = join(world.root, "started");
    const entry = await script("witness.cjs", `require("node:fs").writeFileSync(${JSON.stringify(witness)}, "");`);
    await world.write("home/work/project/.nexus/mcp.json", {
      mcpServers: { theirs: { ...entry, env: { A: "${NOT_SET_HERE}" } } },
    });
    const { code, report } = await doctor();
    expect(code).toBe(8);
    const checks = checksOf(report, "theirs");
    expect(checks["trusted"]).toMatchObject({ verdict: "failed", error: { code: "UNTRUSTED" } });
    expect(checks["variables"]).toMatchObject({ verdict: "warning", evidence: ["NOT_SET_HERE is not set"] });
    await expect(world.read("started")).rejects.toThrow();

    await world.write("home/work/project/.nexus/mcp.json", { mcpServers: { theirs: stdioFixture() } });
    const trusted = checksOf((await doctor("--trust")).report, "theirs");
    expect(trusted["trusted"]).toMatchObject({ verdict: "ok" });
    expect(trusted["latency"]).toMatchObject({ verdict: "ok" });
    await world.write("home/work/project/.nexus/mcp.json", { mcpServers: {} });
  });

  test("a server that is disabled is a note among others, and the answer when it is asked about", async () => {
    await world.configure({ off: { ...stdioFixture(), enabled: false } });
    const all = await doctor();
    expect(all.code).toBe(0);
    expect(checksOf(all.report, "off")["enabled"]).toMatchObject({ verdict: "note" });
    const one = await doctor("off");
    expect(one.code).toBe(8);
    expect(checksOf(one.report, "off")["enabled"]).toMatchObject({ verdict: "failed", error: { code: "DENIED" } });
    expect(checksOf(one.report, "off")["starts"]).toMatchObject({ evidence: ["it is disabled"] });
  });

  test("nothing configured says how to begin; an unknown name ends with 6 and what was meant", async () => {
    await world.configure({});
    expect((await world.run(["mcp", "doctor"])).stdout).toContain("nexus mcp add");
    expect((await world.run(["mcp", "doctor", "a", "--url", http.url])).code).toBe(2);
    await world.configure({ github: stdioFixture() });
    const { code, stderr } = await world.run(["mcp", "doctor", "githbu"]);
    expect(code).toBe(6);
    expect(stderr).toContain(`Did you mean "github"?`);
  });
});

test.skipIf(!HAS_TERMINAL)("a narrow terminal gets lines that fit, a control character cannot steer it", async () => {
  const text = `process.stderr.write("\\u001b[31mred\\n"); process.exit(1);`;
  await world.configure({ red: await script("red.cjs", text) });
  const { child, output } = world.inTerminal(["mcp", "doctor", "red", "--no-color"], { columns: 60 });
  await new Promise((resolve) => child.once("close", resolve));
  const lines = output.stdout.split(/\r?\n/);
  expect(output.stdout).toContain("\\x1b[31mred");
  expect(output.stdout).not.toContain("\u001b[31m");
  const wide = lines.filter((line) => line.length > 60 && line.trim().includes(" ") && !line.includes(world.root));
  expect(wide).toEqual([]);
});
