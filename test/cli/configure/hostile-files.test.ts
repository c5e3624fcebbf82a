import { execFile } from "node:child_process";
import { rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isFull } from "../../fixtures/depth.ts";
import { NexusWorld } from "../../fixtures/nexus.ts";

const MEGABYTE = 1024 * 1024;
/** Within the limit of a file. A quick run does with less: each is far beyond what has a limit, or has none. */
const LARGE = Math.round((isFull ? 0.9 : 0.1) * MEGABYTE);
const LEVELS = "the limits are 100 levels and 200000 values";

let world: NexusWorld;

beforeEach(async () => {
  world = await NexusWorld.open();
  await world.configure({ mine: { command: process.execPath, args: ["server.js"] } });
});

afterEach(() => world[Symbol.asyncDispose]());

/** A file in the folder of a project that was cloned and that nobody trusts. */
function clone(name: string, content: string): Promise<string> {
  return world.write(join("home/work/project", name), content);
}

function entry(inner: string): string {
  return `{"mcpServers":{"theirs":{"command":"x",${inner}}}}`;
}

/** As many pieces as fit into so many bytes. */
function pieces(bytes: number, piece: (index: number) => string): string {
  let text = "";
  for (let index = 0; text.length < bytes; index++) text += piece(index);
  return text;
}

describe("a project's configuration that is too large or too deep is refused with its limit, and nothing else is", () => {
  test.for([
    ["8,000 open brackets of YAML", "nexus.yaml", () => "[".repeat(8_000), LEVELS],
    ["50,000 open brackets of YAML", "nexus.yaml", () => "[".repeat(50_000), LEVELS],
    ["50,000 open braces of YAML", "nexus.yaml", () => "{a: ".repeat(50_000), LEVELS],
    ["50,000 lists of YAML on one line", "nexus.yaml", () => "- ".repeat(50_000), LEVELS],
    ["50,000 complex keys of YAML", "nexus.yaml", () => "? ".repeat(50_000), LEVELS],
    [
      "1,000 levels of YAML by indentation",
      "nexus.yaml",
      () => Array.from({ length: 1_000 }, (_, i) => `${" ".repeat(i)}a:\n`).join(""),
      LEVELS,
    ],
    [
      "aliases of YAML inside of each other",
      "nexus.yaml",
      () => `a0: &a0 x\n${pieces(LARGE / 4, (i) => `a${i + 1}: &a${i + 1} [*a${i}]\n`)}`,
      LEVELS,
    ],
    [
      "aliases of YAML that repeat very much",
      "nexus.yaml",
      () => `a: &a [${"1,".repeat(10_000)}1]\nb: [${Array(90).fill("*a").join(" , ")}]\n`,
      LEVELS,
    ],
    ["50,000 open brackets of JSON", ".mcp.json", () => "[".repeat(50_000), LEVELS],
    ["brackets of JSON that close others", ".mcp.json", () => "[},".repeat(50_000), LEVELS],
    ["very many values of JSON", ".mcp.json", () => entry(`"args":[${"0,".repeat(300_000)}0]`), LEVELS],
    [
      "2.8 MB of servers",
      ".mcp.json",
      () => `{"mcpServers":{${pieces(2.8 * MEGABYTE, (i) => `"s${i}":{},`)}"z":{}}}`,
      "larger than the limit of 1048576 bytes",
    ],
    [
      "too many servers",
      ".mcp.json",
      () => `{"mcpServers":{${pieces(LARGE, (i) => `"s${i}":{"command":"x"},`)}"z":{}}}`,
      "more than 1000 servers",
    ],
    [
      "too many inputs",
      ".mcp.json",
      () => `{"servers":{},"inputs":[${pieces(LARGE, (i) => `{"id":"i${i}"},`)}{}]}`,
      "more than 1000 inputs",
    ],
  ] as const)("%s", async ([, name, content, limit]) => {
    const file = await clone(name, content());
    const { code, stdout, stderr } = await world.run(["mcp", "servers", "--json"]);
    expect({ code, isNamed: stderr.includes(file) || stdout.includes(file) }).toEqual({ code: 3, isNamed: true });
    const { servers, errors } = JSON.parse(stdout) as { servers: { id: string }[]; errors: object[] };
    expect(servers.map(({ id }) => id)).toEqual(["mine"]);
    expect(errors).toMatchObject([{ code: "CONFIG_INVALID", message: expect.stringContaining(limit) }]);
  });
});

describe("a project's configuration within the limits is read in time that grows with its size alone", () => {
  test.for([
    ["names of variables", () => entry(`"args":[${pieces(LARGE, (i) => `"\${VARIABLE_${i}}",`)}"z"]`)],
    ["defaults inside of defaults", () => entry(`"args":["${"${A:-".repeat(90_000)}x${"}".repeat(90_000)}"]`)],
    ["one long name of an option", () => entry(`"args":["--${"token".repeat(180_000)}!"]`)],
    ["quotes that are not closed", () => entry(`"args":["x ${String.raw`\"\\`.repeat(220_000)}"]`)],
    ["question marks of an address", () => `{"mcpServers":{"a":{"url":"https://x/${"?".repeat(LARGE)}"}}}`],
    ["an open variable", () => entry(`"args":["\${${"a:-".repeat(300_000)}"]`)],
    ["unknown keys", () => entry(`${pieces(LARGE, (i) => `"comand${i}":1,`)}"z":1`)],
    ["keys outside of servers", () => `{${pieces(LARGE, (i) => `"mcpServer${i}":1,`)}"mcpServers":{"theirs":{}}}`],
    ["the same file, again and again", () => entry(`"args":[${pieces(LARGE, () => `"\${file:large}",`)}"z"]`)],
  ] as const)("%s", async ([, content]) => {
    await clone(".mcp.json", content());
    await clone("large", "x".repeat(LARGE));
    const { code, stdout } = await world.run(["mcp", "servers", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      servers: expect.arrayContaining([expect.objectContaining({ id: "mine" })]),
    });
  });

  test.for([
    ["keys", () => pieces(LARGE / 5, (i) => `k${i}: 1\n`)],
    ["anchors", () => pieces(LARGE / 5, (i) => `k${i}: &a${i} 1\nl${i}: *a${i}\n`)],
  ] as const)("%s of YAML", async ([, content]) => {
    await clone("nexus.yaml", `${content()}mcpServers: {theirs: {command: x}}\n`);
    const { code, stdout } = await world.run(["mcp", "servers", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ servers: [{ id: "mine" }, { id: "theirs" }] });
  });
});

test.for(["tools", "trust", "explain", "doctor", "import", "prompts"])(
  "nexus mcp %s comes to an end in a project with a configuration without one",
  async (command) => {
    await clone("nexus.yaml", "[".repeat(50_000));
    await clone(".mcp.json", "[".repeat(50_000));
    await clone(".codex/config.toml", `a=${"[".repeat(50_000)}`);
    await clone(".vscode/mcp.json", "[".repeat(50_000));
    await world.configure({});
    const { code } = await world.run(["mcp", command]);
    expect(code).not.toBeNull();
    expect(code).not.toBe(1);
  },
);

describe.skipIf(process.platform === "win32")("what is not a regular file is refused, and not read", () => {
  const pipe = (name: string) => promisify(execFile)("mkfifo", [join(world.project, name)]);
  const endless = (name: string) => symlink("/dev/zero", join(world.project, name));

  test.for([
    ["a pipe", pipe],
    ["a device", endless],
  ] as const)("%s as configuration, file of variables, file of text, tool file and lock", async ([, make]) => {
    await make(".mcp.json");
    const refused = await world.run(["mcp", "servers"]);
    expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining("is a folder, a pipe or a device") });
    await rm(join(world.project, ".mcp.json"));

    for (const name of ["variables", "text", "a.nexus.yaml", "b.nexus.lock"]) await make(name);
    await clone("b.nexus.yaml", "nexus: 1\n");
    await clone(
      ".mcp.json",
      `{"mcpServers":{"a":{"command":"x","envFile":"variables","args":["\${file:text}"]},"b":{"api":"a.nexus.yaml"},"c":{"api":"b.nexus.yaml"}}}`,
    );
    for (const flags of [[], ["--trust"]]) {
      const { code, stdout } = await world.run(["mcp", "servers", "--json", ...flags]);
      expect(code).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({ servers: [{ id: "a" }, { id: "b" }, { id: "c" }, { id: "mine" }] });
    }
    expect(await world.run(["mcp", "tools", "--server", "b", "--trust"])).toMatchObject({ code: 3 });
  });

  test("a pipe where the lock of the configuration has to be", async () => {
    await clone(".mcp.json", "{}");
    await pipe(".mcp.json.lock");
    const added = await world.run(["mcp", "add", "x", "--config", ".mcp.json", "--", "node", "x.js"]);
    expect(added).toMatchObject({ code: 8, stderr: expect.stringContaining(".mcp.json.lock") });
  });
});

describe("a tool file that is nested too deeply is refused with its place", () => {
  test.for([
    ["brackets", "[".repeat(20_000)],
    ["lists", "- ".repeat(20_000)],
    ["aliases", pieces(LARGE / 3, (i) => `a${i + 1}: &a${i + 1} [${i === 0 ? "" : `*a${i}`}]\n`)],
  ] as const)("%s", async ([, text]) => {
    await clone("deep.nexus.yaml", text);
    const { code, stdout, stderr } = await world.run(["api", "check", "./deep.nexus.yaml"]);
    expect({ code, told: stdout + stderr }).toMatchObject({
      code: 3,
      told: expect.stringContaining("deep.nexus.yaml"),
    });
  });
});
