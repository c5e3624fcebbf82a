import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HAS_TERMINAL, NexusWorld } from "../../fixtures/nexus.ts";
import { quickFixture, type BothEras } from "../../fixtures/servers/quick-fixture.ts";

const contains = (text: string) => expect.stringContaining(text) as string;

let world: NexusWorld;
let eras: BothEras;

beforeAll(async () => {
  world = await NexusWorld.open();
  eras = await quickFixture();
  await world.configure({
    modern: eras.modern,
    legacy: eras.legacy,
  });
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await eras[Symbol.asyncDispose]();
});

const mcp = (...args: string[]) => world.run(["mcp", ...args]);

describe.each(["modern", "legacy"])("a %s server", (server) => {
  test("N13 has a resource read: text, bytes into a file, or as it was sent", async () => {
    const text = "This is the content of the static text resource.";
    expect(await mcp("read", server, "test://static-text")).toEqual({ code: 0, stdout: text, stderr: "" });
    const line = `$NEXUS mcp read ${server} test://static-binary > ${server}.png`;
    expect(await world.shell(line)).toMatchObject({ code: 0 });
    expect((await readFile(join(world.project, `${server}.png`))).subarray(1, 4).toString()).toBe("PNG");
    const json = await mcp("read", server, "test://template/9/data", "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({ contents: [{ uri: "test://template/9/data" }] });
  });

  test("that has no such resource is exit code 6, with the one that was probably meant", async () => {
    expect(await mcp("read", server, "test://static-txt")).toMatchObject({
      code: 6,
      stdout: "",
      stderr: contains(`Did you mean "test://static-text"?`),
    });
    const json = await mcp("read", server, "test://nothing-like-it", "--json");
    expect(json.code).toBe(6);
    expect(JSON.parse(json.stderr)).toMatchObject({ error: { code: "NAME_UNKNOWN", server } });
  });

  test("N13 has a prompt filled in, each message with its role", async () => {
    const args = ["prompt", `${server}.test_prompt_with_arguments`, "--arg", "arg1=a", "--arg", "arg2=b"] as const;
    expect(await mcp(...args)).toEqual({
      code: 0,
      stdout: "user:\nPrompt with arguments: arg1='a', arg2='b'\n",
      stderr: "",
    });
    expect(JSON.parse((await mcp(...args, "--json")).stdout)).toMatchObject({ messages: [{ role: "user" }] });
    const embedded = await mcp(
      "prompt",
      `${server}.test_prompt_with_embedded_resource`,
      "--arg",
      "resourceUri=test://x",
    );
    expect(embedded.stdout).toContain("[resource test://x, text/plain]\nThe resource inside the prompt.\n\nuser:\n");
  });

  test("is not sent a prompt whose arguments are wrong or missing", async () => {
    const name = `${server}.test_prompt_with_arguments`;
    expect(await mcp("prompt", name, "--arg", "arg1=a")).toMatchObject({ code: 2, stderr: contains("--arg arg2=…") });
    expect(await mcp("prompt", name, "--arg", "agr1=a")).toMatchObject({
      code: 2,
      stderr: contains(`Did you mean "arg1"`),
    });
    expect(await mcp("prompt", `${server}.test_simple_promt`)).toMatchObject({
      code: 6,
      stderr: contains(`Did you mean "${server}.test_simple_prompt"?`),
    });
  });

  test("suggests values for a prompt's argument and a template's variable", async () => {
    const ofPrompt = ["complete", server, "--prompt", "test_prompt_with_arguments", "--arg", "arg1=te"] as const;
    expect(await mcp(...ofPrompt)).toEqual({ code: 0, stdout: "tea\ntest\ntesting\n", stderr: "" });
    expect(JSON.parse((await mcp(...ofPrompt, "--json")).stdout)).toMatchObject({
      server,
      values: ["tea", "test", "testing"],
    });
    const ofTemplate = await mcp("complete", server, "--template", "test://template/{id}/data", "--arg", "id=12");
    expect(ofTemplate.stdout).toBe("123\n124\n");
    const wrong = await mcp("complete", server, "--prompt", "test_promt_with_arguments", "--arg", "arg1=");
    expect(wrong).toMatchObject({ code: 6, stderr: contains(`Did you mean "test_prompt_with_arguments"?`) });
  });
});

test("what is missing on the command line is said before anything is started", async () => {
  expect(await mcp("complete", "modern", "--arg", "a=b")).toMatchObject({ code: 2, stderr: contains("--prompt NAME") });
  expect(await mcp("complete", "modern", "--prompt", "x")).toMatchObject({ code: 2, stderr: contains("--arg") });
  expect(await mcp("read", "modern")).toMatchObject({
    code: 2,
    stderr: contains("The URI of the resource is missing"),
  });
});

test.each(["call", "read", "prompt", "complete"])("nexus mcp %s --help shows real examples", async (command) => {
  const { code, stdout } = await mcp(command, "--help");
  expect(code).toBe(0);
  expect(stdout.split(`\n  nexus mcp ${command} `).length).toBeGreaterThan(3);
});

test.runIf(HAS_TERMINAL)("on a terminal, what is no text is saved and named", async () => {
  const { child, output } = world.inTerminal(["mcp", "read", "modern", "test://static-binary"]);
  const [code] = (await once(child, "close")) as [number];
  expect(code).toBe(0);
  expect(output.stdout).toContain("saved as static-binary-1.png");
  expect((await readFile(join(world.project, "static-binary-1.png"))).length).toBe(70);
});
