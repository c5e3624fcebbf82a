import { once } from "node:events";
import { afterAll, beforeAll, expect, test } from "vitest";
import { modern, send } from "../fixtures/gateway/wire.ts";
import { NexusWorld } from "../fixtures/nexus.ts";
import { quickFixture, type BothEras } from "../fixtures/servers/quick-fixture.ts";

const json = (text: string) => JSON.parse(text) as Record<string, unknown>;

let world: NexusWorld;
let eras: BothEras;

beforeAll(async () => {
  world = await NexusWorld.open();
  eras = await quickFixture();
  await world.configure({
    ruled: { ...eras.legacy, tools: { deny: ["echo", "crash"] } },
    free: eras.legacy,
  });
});

afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await eras[Symbol.asyncDispose]();
});

/** A raw request, and what came of it. */
async function request(server: string, method: string, params: object = {}) {
  const { code, stdout, stderr } = await world.run([
    "mcp",
    "request",
    server,
    method,
    JSON.stringify(params),
    "--json",
  ]);
  return { code, result: code === 0 ? json(stdout) : undefined, error: code === 0 ? undefined : json(stderr)["error"] };
}

test("a raw request does not call a tool that the server's entry denies (R8)", async () => {
  const params = { name: "echo", arguments: { text: "x" } };
  expect(await request("free", "tools/call", params)).toMatchObject({ code: 0 });
  expect(await request("ruled", "tools/call", params)).toMatchObject({
    code: 8,
    error: {
      code: "DENIED",
      message: `Tool "echo" of server "ruled" is not allowed: the server's entry denies it`,
      server: "ruled",
      source: { line: expect.any(Number) as number },
    },
  });
});

test("a raw list of tools has none that the server's entry denies (R8)", async () => {
  const names = async (server: string) => {
    const { result } = await request(server, "tools/list");
    return (result as { tools: { name: string }[] }).tools.map(({ name }) => name);
  };
  const [all, allowed] = await Promise.all([names("free"), names("ruled")]);
  expect(all).toContain("echo");
  expect(allowed).toEqual(all.filter((name) => name !== "echo" && name !== "crash"));
});

test("a method that is not known may do what the entry denies, so it is refused where there are rules (R8)", async () => {
  expect(await request("ruled", "acme/run")).toMatchObject({ code: 8, error: { code: "DENIED" } });
  expect(await request("free", "acme/run")).toMatchObject({ code: 5, error: { code: "SERVER_ERROR" } });
});

test("resources, prompts and completions are not what the rules of an entry are about", async () => {
  const uri = "test://static-text";
  const argument = { name: "arg1", value: "p" };
  const ref = { type: "ref/prompt", name: "test_prompt_with_arguments" };
  const codes = await Promise.all([
    world.run(["mcp", "read", "ruled", uri]),
    world.run(["mcp", "prompt", "ruled.test_simple_prompt"]),
    world.run(["mcp", "complete", "ruled", "--prompt", ref.name, "--arg", "arg1=p"]),
    request("ruled", "resources/read", { uri }),
    request("ruled", "completion/complete", { ref, argument }),
    request("ruled", "resources/subscribe", { uri }),
    request("ruled", "ping"),
  ]);
  expect(codes.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0, 0]);
});

test("nexus serve answers what an entry denies like something that does not exist (R8)", async () => {
  const { child, output } = world.start(["serve", "--port", "0"]);
  await expect.poll(() => output.stdout).toContain("Ctrl-C");
  const url = /http:\/\/[\d.:]+\/mcp/.exec(output.stdout)?.[0] ?? "";
  const own = url.replace("/mcp", "/servers/ruled/mcp");
  const said = async (at: string, method: string, params: Record<string, unknown> = {}) =>
    (await send(at, modern(method, params))).json.error?.message;
  const echo = { text: "x" };
  expect(await said(url, "tools/call", { name: "ruled__echo", arguments: echo })).toBe(
    `There is no tool "ruled__echo"`,
  );
  expect(await said(url, "tools/call", { name: "ruled__never", arguments: echo })).toBe(
    `There is no tool "ruled__never"`,
  );
  expect(await said(own, "tools/call", { name: "echo", arguments: echo })).toBe(`There is no tool "echo"`);
  expect(await said(own, "acme/run")).toBe(`Method not found: acme/run`);
  expect(await said(own, "tools/call", { name: "add_numbers", arguments: { a: 1, b: 2 } })).toBeUndefined();
  expect(await said(url, "tools/call", { name: "free__echo", arguments: echo })).toBeUndefined();
  child.kill("SIGTERM");
  await once(child, "close");
});

test("a tool that the entry denies is not suggested, whatever has seen it", async () => {
  expect((await world.run(["mcp", "connect", "ruled"])).code).toBe(0);
  const suggested = async () => (await world.run(["complete-words", "--", "mcp", "call", "ruled."])).stdout;
  expect(await suggested()).toContain("add_numbers");
  expect(await suggested()).not.toContain("echo");
  const { code } = await world.run(["mcp", "call", "ruled.echo", "--arg", "text=x"]);
  expect(code).toBe(8);
  expect(await suggested()).not.toContain("echo");
});
