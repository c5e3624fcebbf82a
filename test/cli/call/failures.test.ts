import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { BrokenServers } from "../../fixtures/broken-servers.ts";
import { NexusWorld, type Ran } from "../../fixtures/nexus.ts";
import { startHttpFixture } from "../../fixtures/servers/http-fixture.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";

interface Failure {
  exit: number;
  code: string;
  message: RegExp;
  /** The next step. */
  hint: RegExp;
  /** Other lines that people are shown. */
  also?: RegExp;
}

/** What `nexus mcp connect` says of each broken server. */
const FAILURES: Record<string, Failure> = {
  "two-ways": {
    exit: 3,
    code: "CONFIG_INVALID",
    message: /has both "command" and "url"/,
    hint: /Use one of: \{ "command": .* or \{ "url"/,
  },
  "no-way": {
    exit: 3,
    code: "CONFIG_INVALID",
    message: /has neither "command" nor "url"/,
    hint: /Use one of: \{ "command": .* or \{ "url"/,
  },
  "wrong-type": {
    exit: 3,
    code: "CONFIG_INVALID",
    message: /"args" must be a list, not a number/,
    hint: /Write it as a list/,
  },
  "unset-variable": {
    exit: 3,
    code: "CONFIG_INVALID",
    message: /the variable NEXUS_TEST_UNSET_KEY is not set/,
    hint: /\$\{NEXUS_TEST_UNSET_KEY:-value\}/,
  },
  "not-found": {
    exit: 4,
    code: "COMMAND_NOT_FOUND",
    message: /^Command not found: mcp-no-such-server$/,
    hint: /Install it, or use its full path/,
    also: /^ {2}command: +mcp-no-such-server$/m,
  },
  forbidden: {
    exit: 4,
    code: "PERMISSION_DENIED",
    message: /^Not allowed to run .*plain\.py$/,
    hint: /not marked as executable.*chmod \+x/,
    also: /^ {2}example: +"command": "python3", "args"/m,
  },
  crash: {
    exit: 4,
    code: "SERVER_EXITED",
    message: /^The server exited with code 3: everything: giving up$/,
    hint: /Run the server's command in a terminal/,
    also: /^ {2}stderr: +everything: cannot open the database\n +everything: giving up$/m,
  },
  hangs: {
    exit: 7,
    code: "TIMEOUT",
    message: /^Not connected within 3 s\. No answer to initialize/,
    hint: /does not start an MCP server.*connection_timeout/,
    also: /^ {2}sent: +server\/discover, initialize\n {2}received: +no message$/m,
  },
  noisy: {
    exit: 7,
    code: "TIMEOUT",
    message: /^Not connected within 3 s.*printed text that is not JSON-RPC: "Server running on stdio"$/,
    hint: /log to stderr/,
    also: /^ {2}received: +no message, 1 line of other text$/m,
  },
  garbage: {
    exit: 7,
    code: "TIMEOUT",
    message: /^Not connected within 3 s/,
    hint: /frames messages like a language server/,
  },
  future: {
    exit: 4,
    code: "VERSION_UNSUPPORTED",
    message: /requested protocol version 2099-01-01/,
    hint: /Supported versions: 2026-07-28/,
  },
  refused: {
    exit: 4,
    code: "CONNECTION_FAILED",
    message: /^Nothing is listening at http:\/\/127\.0\.0\.1:\d+$/,
    hint: /Start the server, or correct the host and port/,
    also: /^ {2}try: +curl -v http/m,
  },
  "no-host": {
    exit: 4,
    code: "CONNECTION_FAILED",
    message: /^The host name of http:\/\/nexus\.invalid could not be resolved$/,
    hint: /Check the spelling of the host/,
  },
  "self-signed": {
    exit: 4,
    code: "CONNECTION_FAILED",
    message: /^The certificate of https:\/\/localhost:\d+ is not trusted/,
    hint: /signed its certificate itself.*NODE_EXTRA_CA_CERTS/,
  },
  "wants-login": {
    exit: 8,
    code: "AUTH_REQUIRED",
    message: /requires a login \(HTTP 401\)/,
    hint: /Run "nexus mcp login wants-login".*"headers"/,
    also: /^ {2}requires: +Bearer realm="notes"$/m,
  },
  "not-here": {
    exit: 4,
    code: "HTTP_STATUS",
    message: /\(HTTP 404\)/,
    hint: /It often ends in \/mcp/,
  },
  page: {
    exit: 4,
    code: "NOT_MCP",
    message: /a web page titled "Welcome", not an MCP message/,
    hint: /a website or a login page.*It often ends in \/mcp/,
  },
  hanging: {
    exit: 7,
    code: "TIMEOUT",
    message: /^Not connected within 3 s/,
    hint: /\S/,
  },
  cut: {
    exit: 4,
    code: "CONNECTION_LOST",
    message: /closed the connection before the answer was complete$/,
    hint: /Check the server's log/,
  },
};

let world: NexusWorld;
let broken: BrokenServers;
let file: string;
let entries: Record<string, object>;

beforeAll(async () => {
  world = await NexusWorld.open();
  broken = new BrokenServers(world);
  entries = await broken.entries();
  file = await world.configure(entries);
});

afterAll(async () => {
  await broken[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

test("every broken server of the fixture is looked at", () => {
  expect(Object.keys({ "self-signed": {}, ...entries }).toSorted()).toEqual(Object.keys(FAILURES).toSorted());
});

describe.concurrent("a server", () => {
  test.each(Object.entries(FAILURES))(
    "P1.9: that is %s: what, where, why and what to do, for people and for programs",
    async (id, { exit, code, message, hint, also = /./ }) => {
      if (!entries[id]) return console.log("not tried: there is no openssl to make a certificate with");
      const line = (await readFile(file, "utf8")).split("\n").findIndex((text) => text.includes(`"${id}": {`)) + 1;
      const [people, programs] = await Promise.all([
        world.run(["mcp", "connect", id]),
        world.run(["mcp", "tools", "--server", id, "--json"]),
      ]);

      expect(people).toMatchObject({ code: exit, stdout: "" });
      const [first = "", ...rest] = people.stderr.trimEnd().split("\n");
      expect(first.replace(/^nexus: (Server "[\w-]+": )?/, "")).toMatch(message);
      expect(people.stderr).toMatch(also);
      expect(people.stderr).toContain(id);
      // The entry itself, or the very value that is wrong in it.
      const place = /^ {2}file: +(.*):(\d+):\d+ \(user\)$/m.exec(people.stderr);
      expect(place?.[1]).toBe(file);
      expect(Number(place?.[2])).toBeGreaterThanOrEqual(line);
      expect(Number(place?.[2])).toBeLessThan(line + 6);
      expect(rest.some((text) => /^ {2}(fix|example|try): /.test(text))).toBe(true);
      expect(people.stderr).not.toMatch(/\n +at |undefined|\[object/);

      expect(programs).toMatchObject({ code: exit, stdout: "" });
      const { error } = JSON.parse(programs.stderr) as { error: Record<string, unknown> };
      expect(error).toMatchObject({ code, server: id, source: { file } });
      expect(error["message"]).toBe(String(error["message"]));
      expect(String(error["message"]).replace(/^Server "[\w-]+": /, "")).toMatch(message);
      expect(error["hint"]).toMatch(hint);
      if (code !== "CONFIG_INVALID") expect(error["command"] ?? error["url"]).toBeTypeOf("string");
    },
  );
});

describe("a file", () => {
  const tools = async (text: string): Promise<Ran & { path: string }> => {
    const path = await world.write("one.json", text);
    return { path, ...(await world.run(["mcp", "tools", "--config", path])) };
  };

  test("P1.9: that is not valid JSON: line, column, the lines around it with a caret, and exit code 3", async () => {
    const { code, stdout, stderr, path } = await tools(
      `{\n  "mcpServers": {\n    "notes": { "command": "node" "args": [] }\n  }\n}\n`,
    );
    expect({ code, stdout }).toEqual({ code: 3, stdout: "" });
    expect(stderr).toContain(`${path}:3:`);
    const lines = stderr.split("\n");
    const at = lines.findIndex((text) => text.includes(`"notes": { "command": "node" "args": [] }`));
    expect(at).toBeGreaterThan(0);
    expect(lines[at + 1]?.indexOf("^")).toBe(lines[at]?.indexOf(`"args"`));
    expect(stderr).toContain("a comma is missing before this");
  });

  test("P1.9: whose servers are of a wrong kind", async () => {
    const { code, stderr, path } = await tools(`{ "mcpServers": "none" }`);
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining(path) as string });
  });

  test("P1.9: with keys that nobody knows warns, with what was meant, and goes on", async () => {
    const entry = { ...stdioFixture(), timout: "30s", wibble: 1 };
    const { code, stdout, stderr, path } = await tools(JSON.stringify({ mcpServers: { notes: entry } }, undefined, 2));
    expect(code).toBe(0);
    expect(stdout).toMatch(/^notes {2}\d+ tools$/m);
    expect(stderr).toMatch(
      /^warning: Server "notes": unknown key "timout"; did you mean "timeout"\? \(.*one\.json:\d+\)$/m,
    );
    expect(stderr).toContain(`unknown key "wibble"`);
    expect(stderr).toContain(path);
  });

  test("P1.9: that is not there", async () => {
    const { code, stderr } = await world.run(["mcp", "tools", "--config", "nowhere.json"]);
    expect(code).toBe(3);
    expect(stderr).toMatch(/The configuration file does not exist\n {2}file: +.*nowhere\.json.*\n {2}fix: +\S/);
  });

  test("P1.9: of a folder that is not trusted: nothing is started, exit code 8, and --trust for one run", async () => {
    await using other = await NexusWorld.open();
    const mark = join(other.root, "started");
    const entry = {
      command: process.execPath,
      args: ["-e", `require("node:fs").writeFileSync(${JSON.stringify(mark)}, "")`],
    };
    const path = await other.write("home/work/project/.nexus/mcp.json", { mcpServers: { notes: entry } });
    const refused = await other.run(["mcp", "tools"]);
    expect(refused).toMatchObject({ code: 8, stdout: "" });
    expect(refused.stderr).toMatch(/^nexus: Server "notes" is configured by a project that is not trusted\n/);
    expect(refused.stderr).toContain(`${path}:`);
    expect(refused.stderr).toMatch(/fix: +.*nexus mcp trust \(or --trust, for one run\)/);
    await expect(readFile(mark)).rejects.toThrow("ENOENT");

    expect(await other.run(["mcp", "tools", "--trust"])).toMatchObject({ code: 4 });
    expect(await readFile(mark, "utf8")).toBe("");
  });
});

describe("a connection that was there", () => {
  test("P1.9: a server that dies in a call: its end, and that the call may have had its effect", async () => {
    const config = await world.write("dies.json", { mcpServers: { notes: stdioFixture() } });
    const { code, stdout, stderr } = await world.run([
      "mcp",
      "call",
      "notes.crash",
      "--arg",
      "code=3",
      "--config",
      config,
    ]);
    expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
    expect(stderr).toMatch(/^nexus: The server exited with code 3/);
    expect(stderr).toMatch(/^ {2}note: +The server may have executed the call/m);
    expect(stderr).toMatch(/^ {2}fix: +\S/m);
  });

  test("P1.9: a connection that is cut in the middle of an answer", async () => {
    await using web = await startHttpFixture();
    const args = ["mcp", "call", "misbehave", "--arg", "how=reset_mid_body", "--url", web.url];
    const { code, stdout, stderr } = await world.run(args);
    expect({ code, stdout }).toEqual({ code: 4, stdout: "" });
    expect(stderr).toMatch(/closed the connection before the answer was complete/);
    // The server has answered over HTTP before, so the scheme of its URL is right.
    expect(stderr).toMatch(/^ {2}fix: +Check the server's log\.$/m);
    expect(stderr).toMatch(/^ {2}note: +The server may have executed the call/m);
    const programs = await world.run([...args, "--json"]);
    expect(JSON.parse(programs.stderr)).toMatchObject({ error: { code: "CONNECTION_LOST", mayHaveReached: true } });
  });
});
