import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HAS_TERMINAL, NexusWorld } from "../../fixtures/nexus.ts";
import { childrenOf, isRunning } from "../../fixtures/processes.ts";
import { startHttpFixture } from "../../fixtures/servers/http-fixture.ts";
import { quickFixture, type BothEras } from "../../fixtures/servers/quick-fixture.ts";
import { stdioFixture } from "../../fixtures/servers/stdio-fixture.ts";

const DEMO = fileURLToPath(new URL("../../../dist/demo/main.js", import.meta.url));
const contains = (text: string) => expect.stringContaining(text) as string;

/** What clears a line that is drawn over. */
const ERASED = "\r\u001b[2K";

let world: NexusWorld;
let eras: BothEras;

beforeAll(async () => {
  world = await NexusWorld.open();
  eras = await quickFixture();
  await world.configure({
    demo: { command: process.execPath, args: [DEMO] },
    modern: eras.modern,
    legacy: eras.legacy,
    fragile: stdioFixture(["--revision", "2026-07-28"]),
    strict: { ...eras.modern, tools: { deny: ["test_*"] } },
    gone: { command: "no-such-program-anywhere" },
  });
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await eras[Symbol.asyncDispose]();
});

const call = (tool: string, ...args: string[]) => world.run(["mcp", "call", tool, ...args]);

describe("arguments", () => {
  test("N13 are typed by the tool's schema: numbers, booleans, what is inside an object", async () => {
    const { stdout } = await call(
      "modern.test_param_headers",
      ...["region=7", "priority=7", "dryRun=true", "place.city=Wien", "note={not json"].flatMap((arg) => [
        "--arg",
        arg,
      ]),
    );
    expect(JSON.parse(stdout)).toEqual({
      region: "7",
      priority: 7,
      dryRun: true,
      place: { city: "Wien" },
      note: "{not json",
    });
  });

  test("come as JSON, from a file or from stdin, below those given one by one", async () => {
    const file = await world.write("args.json", { a: 1, b: 2 });
    expect((await call("demo.add", "--args", `@${file}`)).stdout).toContain("3");
    expect((await call("demo.add", "--args", '{"a": 1, "b": 2}', "--arg", "b=41")).stdout).toContain("42");
    const piped = await world.run(["mcp", "call", "demo.add", "--args", "-"], { stdin: '{"a": 20, "b": 3}' });
    expect(piped).toMatchObject({ code: 0, stdout: contains("23") });
  });

  test("take the text of a file, or a text that begins with @", async () => {
    const file = await world.write("text.txt", "Grüß Gott\n");
    expect((await call("demo.echo", "--arg", `text=@${file}`)).stdout).toBe("Grüß Gott\n");
    expect((await call("demo.echo", "--arg", "text=@@ada")).stdout).toBe("@ada\n");
    expect(await call("demo.echo", "--arg", "text=@ada")).toMatchObject({ code: 2, stderr: contains("text=@@ada") });
  });

  test.each([
    ["a value of the wrong type", ["demo.add", "--arg", "a=1", "--arg", "b=two"], "b: expected number, got string"],
    ["one that is missing", ["demo.add", "--arg", "a=1"], "missing property b (number)"],
    ["one that is misspelt", ["demo.roll_dice", "--arg", "cuont=3"], "Did you mean count?"],
    ["one that is called otherwise", ["demo.echo", "--arg", "message=x"], "(string); unknown property message"],
    ["one given twice", ["demo.echo", "--arg", "text=a", "--arg", "text=b"], "the tool accepts one"],
    ["one out of range", ["demo.roll_dice", "--arg", "count=99"], "count: expected at most 20, got 99"],
    ["one without a value", ["demo.echo", "--arg", "text"], "Write --arg text=value"],
    ["--args that is no JSON", ["demo.echo", "--args", "{text"], "is not valid JSON"],
    ["--args that is no object", ["demo.echo", "--args", "[1]"], "must be a JSON object, not an array"],
    ["a number of times that is none", ["demo.echo", "--repeat", "often"], '--repeat "often"'],
  ])("that are wrong are not sent: %s", async (_what, [tool = "", ...args], said) => {
    expect(await call(tool, ...args)).toMatchObject({ code: 2, stdout: "", stderr: contains(said) });
  });

  test("that are wrong are sent with --no-validate, and the server says what it thinks", async () => {
    const { code, stdout } = await call("demo.add", "--arg", "a=1", "--arg", "b=two", "--no-validate");
    expect({ code, stdout }).toEqual({ code: 5, stdout: contains("b") });
  });
});

describe("the name of a tool", () => {
  test("P1.9 that is misspelt is never called: exit code 6 with the one that was probably meant", async () => {
    expect(await call("demo.ehco", "--arg", "text=x")).toMatchObject({
      code: 6,
      stdout: "",
      stderr: contains(`Did you mean "demo.echo"? "nexus mcp tools demo" lists all 5.`),
    });
    expect(await call("dmo.echo", "--arg", "text=x")).toMatchObject({
      code: 6,
      stderr: contains(`Did you mean "demo"?`),
    });
    expect(await call("echo", "--arg", "text=x")).toMatchObject({ code: 6, stderr: contains("Did you mean") });
  });

  test("is taken in all its forms, and stands alone where the server is given in place", async () => {
    for (const name of ["demo.echo", "mcp:demo.echo", "mcp__demo__echo"]) {
      expect((await call(name, "--arg", "text=hi")).stdout).toBe("hi\n");
    }
    const stdio = `"${process.execPath}" "${DEMO}"`;
    expect((await call("echo", "--arg", "text=hi", "--stdio", stdio)).stdout).toBe("hi\n");
    expect(await call("ehco", "--stdio", stdio)).toMatchObject({ code: 6, stderr: contains(`Did you mean "echo"?`) });
  });

  test("that the server's entry denies is refused with exit code 8", async () => {
    expect(await call("strict.test_simple_text")).toMatchObject({
      code: 8,
      stdout: "",
      stderr: contains("the server's entry denies it"),
    });
    expect(await call("strict.echo", "--arg", "text=ok")).toMatchObject({ code: 0, stdout: "ok\n" });
  });
});

describe.each(["modern", "legacy"])("the result of a %s server", (server) => {
  test("N13 is text as text, and everything else named and saved without writing over anything", async () => {
    await world.write("home/work/project/test_multiple_content_types-1.png", "mine");
    const { code, stdout, stderr } = await call(`${server}.test_multiple_content_types`);
    const saved = /saved as (\S+)/.exec(stdout)?.[1] ?? "";
    expect({ code, stderr, saved }).toEqual({
      code: 0,
      stderr: "",
      saved: expect.stringMatching(/^test_multiple_content_types-[2-9]\.png$/) as string,
    });
    expect(stdout.split("\n")).toEqual([
      "Multiple content types test:",
      `[image image/png, 70 B] saved as ${saved}`,
      "[resource test://mixed-content-resource, application/json]",
      '{"test":"data","value":123}',
      "",
    ]);
    expect(await readFile(join(world.project, "test_multiple_content_types-1.png"), "utf8")).toBe("mine");
    expect((await readFile(join(world.project, saved))).subarray(1, 4).toString()).toBe("PNG");
  });

  test("goes to a folder with --save, and is what the server sent with --json", async () => {
    const folder = join(world.root, `saved-${server}`);
    const { stdout, stderr } = await call(`${server}.test_audio_content`, "--save", folder, "--json");
    expect(JSON.parse(stdout)).toMatchObject({ content: [{ type: "audio", mimeType: "audio/wav" }] });
    expect({ stderr, files: await readdir(folder) }).toEqual({ stderr: "", files: ["test_audio_content-1.wav"] });
  });

  test("shows structure once, kinds that it does not know, and that the tool failed", async () => {
    expect((await call(`${server}.add_numbers`, "--arg", "a=1", "--arg", "b=2")).stdout).toBe('{"sum":3}\n');
    expect((await call(`${server}.unknown_things`)).stdout).toContain(`[unknown kind "hologram"] {"depth":3`);
    const failed = await call(`${server}.test_error_handling`);
    expect(failed).toEqual({
      code: 5,
      stdout: "This tool intentionally returns an error for testing\n",
      stderr: `nexus: the tool "test_error_handling" of server "${server}" reported an error\n`,
    });
    const json = await call(`${server}.test_error_handling`, "--json");
    expect(json).toMatchObject({ code: 5, stderr: "" });
    expect(JSON.parse(json.stdout)).toMatchObject({ isError: true });
  });

  test("cannot steer the terminal: control characters are made visible", async () => {
    const { stdout } = await call(`${server}.echo`, "--arg", "text=a\u001b[2Jb\u0007\r\nc\tü");
    expect(stdout).toBe("a\\x1b[2Jb\\x07\nc\tü\n");
  });

  test("R6 comes after lines of progress on stderr, which programs do not get", async () => {
    const { stdout, stderr } = await call(`${server}.test_tool_with_progress`);
    expect(stdout).toBe("Done.\n");
    expect(stderr.split("\n").map((line) => line.replace(/ \(.*\)$/, ""))).toEqual(
      expect.arrayContaining(["  0% 0 percent", "100% 100 percent"]),
    );
    expect(await call(`${server}.test_tool_with_progress`, "--json")).toMatchObject({ stderr: "" });
  });

  test("R6 comes with the server's log messages only with --verbose", async () => {
    const quiet = await call(`${server}.test_logging_tool`);
    expect(quiet).toMatchObject({ stdout: "Logged.\n", stderr: "" });
    const verbose = await call(`${server}.test_tool_with_logging`, "--verbose");
    expect(verbose.stdout).toBe("Logged three lines.\n");
    expect(verbose.stderr).toContain("[info] test_tool_with_logging: Tool processing data");
  });

  test("of many calls is a table of latencies with --repeat", async () => {
    const { code, stdout } = await call(`${server}.echo`, "--arg", "text=x", "--repeat", "5");
    expect(code).toBe(0);
    expect(stdout).toMatch(/^5 calls, .*\n *min +median +p90 +p99 +max +mean +errors +calls\/s\n[ \d.]+\n$/);
    const json = await call(`${server}.test_error_handling`, "--repeat", "3", "--json");
    expect(json.code).toBe(5);
    expect(JSON.parse(json.stdout)).toMatchObject({ calls: 3, errors: 3, ms: { min: expect.any(Number) as number } });
  });
});

describe("failures", () => {
  test("P1.9 a server that cannot be started is exit code 4, one that is too slow 7, an error of the server 5", async () => {
    expect(await call("gone.tool")).toMatchObject({
      code: 4,
      stdout: "",
      stderr: contains("no-such-program-anywhere"),
    });
    const slow = await call("modern.sleep", "--arg", "ms=60000", "--timeout", "3s");
    expect(slow).toMatchObject({ code: 7, stderr: contains("No answer from the tool ") });
    expect(await call("modern.protocol_error_job", "--task")).toMatchObject({ code: 5, stderr: contains("broke") });
    expect(await call("fragile.crash")).toMatchObject({ code: 4, stderr: contains("exited with code 1") });
  });

  test("with --json are one object on stderr and nothing on stdout", async () => {
    const { code, stdout, stderr } = await call("demo.add", "--arg", "a=x", "--json");
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: "ARGUMENTS_INVALID", hint: contains("--arg a=") } });
  });

  test("R6 Ctrl-C cancels at the server and ends with 130, and nothing is left running", async () => {
    await using web = await startHttpFixture({ revision: "2025-11-25" });
    const { child } = world.start(["mcp", "call", "sleep", "--arg", "ms=60000", "--url", web.url]);
    const asked = () => JSON.stringify(web.transcript.messages("in")).includes('"tools/call"');
    await expect.poll(asked).toBe(true);
    child.kill("SIGINT");
    expect(await once(child, "close")).toEqual([130, null]);
    await expect.poll(() => web.observations.cancelled.length).toBe(1);
  });

  test.runIf(process.platform === "linux")("a sampling program that hangs is ended with the call", async () => {
    const program = await world.write("hangs.mjs", `console.error(process.pid); setInterval(() => {}, 1000);`);
    const sampler = `"${process.execPath}" "${program}"`;
    const { child } = world.start([
      "mcp",
      "call",
      "fragile.test_sampling",
      "--arg",
      "prompt=x",
      "--sample-with",
      sampler,
    ]);
    await expect.poll(() => childrenOf(child.pid ?? 0).length).toBe(2);
    const started = childrenOf(child.pid ?? 0);
    child.kill("SIGINT");
    expect(await once(child, "close")).toEqual([130, null]);
    await expect.poll(() => started.filter(isRunning)).toEqual([]);
  });
});

describe.runIf(HAS_TERMINAL)("at a terminal", () => {
  const onScreen = async (args: string[], columns: number) => {
    const { child, output } = world.inTerminal(["mcp", "call", ...args], { columns });
    const [code] = (await once(child, "close")) as [number];
    return { code, screen: output.stdout };
  };
  const slowly = ["demo.slow_count", "--arg", "to=4", "--arg", "pauseMs=60"];

  test("progress is a bar that is drawn over itself and erased before the result", async () => {
    const { code, screen } = await onScreen(slowly, 100);
    expect(code).toBe(0);
    const drawn = screen.split(ERASED);
    expect(drawn).toContainEqual(expect.stringMatching(/^\[#####-{15}\] {2}25% {2}1 of 4 {2}\d\.\d s$/));
    expect(drawn.at(-1)).toBe("Counted to 4.\r\n");
  });

  test("progress fits a narrow terminal", async () => {
    const { screen } = await onScreen(slowly, 24);
    const drawn = screen.split(ERASED).slice(1, -1);
    expect(drawn.length).toBeGreaterThan(0);
    for (const line of drawn) expect(line.length).toBeLessThan(24);
    expect(screen).toContain("25%");
  });
});
