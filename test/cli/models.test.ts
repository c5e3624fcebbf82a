import { cp, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "oxc-parser";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ANTHROPIC_FAILURES, openAnthropicFake } from "../fixtures/providers/anthropic-fake.ts";
import { OPENAI_FAILURES, openOpenAiFake } from "../fixtures/providers/openai-fake.ts";
import { NexusWorld } from "../fixtures/nexus.ts";
import type { ProviderFake } from "../fixtures/providers/provider-fake.ts";

describe("nexus models", () => {
  let nexus: NexusWorld;
  let anthropic: ProviderFake;
  let openai: ProviderFake;
  let env: Record<string, string>;

  beforeAll(async () => {
    nexus = await NexusWorld.open();
  });
  afterAll(() => nexus[Symbol.asyncDispose]());
  beforeEach(async () => {
    [anthropic, openai] = await Promise.all([openAnthropicFake(), openOpenAiFake()]);
    anthropic.models = ["claude-sonnet-5-5", "claude-small"];
    env = { ANTHROPIC_API_KEY: "test-key", ANTHROPIC_BASE_URL: anthropic.url };
    return async () => {
      await Promise.all([anthropic.close(), openai.close()]);
    };
  });

  const models = (args: readonly string[], more: Record<string, string> = {}) =>
    nexus.run(["models", ...args], { env: { ...env, ...more } });
  const local = (more: object = {}, models_: object = {}) => ({
    models: {
      default: "local:fake-large",
      providers: { local: { type: "openai-compatible", baseUrl: `${openai.url}/v1/`, apiKey: "test-key", ...more } },
      ...models_,
    },
  });

  test("add warns where the key of a company is not known", async () => {
    const added = await models(["add", "openai"]);
    expect(added.code).toBe(0);
    expect(added.stderr).toContain("It has no key. Set OPENAI_API_KEY, or store one: nexus secrets set openai");
    expect((await models(["add", "openai", "--force"], { OPENAI_API_KEY: "k" })).stderr).not.toContain("no key");
  });

  test("add writes a provider without its key, keeps comments, and sets the first default", async () => {
    const file = await nexus.write("home/.nexus/mcp.json", '{\n  // mine\n  "mcpServers": {}\n}\n');
    const added = await models([
      "add",
      "local",
      "--url",
      `${openai.url}/v1/`,
      "--key",
      "${LOCAL_KEY}",
      "--model",
      "fake-large",
    ]);
    expect(added).toMatchObject({ code: 0, stderr: "To test it: nexus models test local:fake-large\n" });
    expect(added.stdout).toBe("Added local to ~/.nexus/mcp.json\n  the default is local:fake-large\n");
    expect(await readFile(file, "utf8")).toContain("// mine");
    const listed = await models(["list", "--json"], { LOCAL_KEY: "test-key" });
    expect(JSON.parse(listed.stdout)).toMatchObject({
      default: "local:fake-large",
      items: [{ provider: "local", type: "openai-compatible", hasKey: true }, { provider: "anthropic" }],
    });
    const more = await models(["add", "anthropic", "--key", "${secret:work}", "--model", "claude-small", "--json"]);
    expect(JSON.parse(more.stdout)).toEqual({ provider: "anthropic", type: "anthropic", file, default: null });
    expect(
      (await models(["add", "local", "--url", "http://127.0.0.1:1/v1", "--model", "m", "--default", "--force"])).code,
    ).toBe(0);
    expect(JSON.parse((await readFile(file, "utf8")).replace("// mine", ""))).toEqual({
      mcpServers: {},
      models: {
        default: "local:m",
        providers: {
          local: { type: "openai-compatible", baseUrl: "http://127.0.0.1:1/v1", models: ["m"] },
          anthropic: { type: "anthropic", apiKey: "${secret:work}", models: ["claude-small"] },
        },
      },
    });
    await nexus.write("home/.nexus/mcp.json", "{}");
  });

  test.each([
    [["local"], 2, 'The address of "local" is missing'],
    [["a b", "--url", "http://x/v1"], 2, "is not a valid name"],
    [["x", "--type", "openai", "--key", "sk-123"], 2, "a key is never written"],
    [["x", "--type", "llama"], 2, '--type "llama" is not a type'],
    [["x", "--url", "ftp://x"], 2, "--url is not an http or https address"],
    [["x", "--url", "http://x/v1", "--default"], 2, "--default needs a model"],
  ] as const)("add %j is %d and says why", async (args, code, why) => {
    expect(await models(["add", ...args])).toMatchObject({ code, stderr: expect.stringContaining(why) });
  });

  test("list shows the provider of the environment, its models and the default, and never the key", async () => {
    const shown = await models(["list"]);
    expect(shown).toMatchObject({ code: 0, stderr: "" });
    expect(shown.stdout).toContain("ANTHROPIC_API_KEY");
    expect(shown.stdout).toContain("anthropic:claude-small");
    expect(shown.stdout).toContain("default: anthropic:claude-sonnet-5-5");
    expect(shown.stdout).not.toContain("test-key");
    const { stdout } = await models(["list", "--json"], {
      OPENAI_API_KEY: "test-key",
      OPENAI_BASE_URL: `${openai.url}/v1`,
    });
    expect(JSON.parse(stdout)).toEqual({
      default: "anthropic:claude-sonnet-5-5",
      items: [
        {
          provider: "anthropic",
          type: "anthropic",
          source: "ANTHROPIC_API_KEY",
          baseUrl: `${anthropic.url}/v1`,
          hasKey: true,
          models: ["anthropic:claude-small", "anthropic:claude-sonnet-5-5"],
        },
        expect.objectContaining({ provider: "openai", models: ["openai:fake-large", "openai:fake-small"] }),
      ],
      errors: [],
    });
  });

  test("list names a provider that cannot be reached, and shows the others", async () => {
    const gone = await openOpenAiFake();
    await gone.close();
    const file = await nexus.write("gone.json", local({ baseUrl: gone.url }));
    const shown = await models(["list", "--config", file]);
    expect(shown.code).toBe(4);
    expect(shown.stdout).toContain(`Nothing is listening at ${gone.url}`);
    expect(shown.stdout).toContain("anthropic:claude-small");
  });

  test.each(["", "/", "/v1", "/v1/"])("a base URL that ends with %j works (N8)", async (ending) => {
    const ran = await models(["test"], { ANTHROPIC_BASE_URL: `${anthropic.url}${ending}` });
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    expect(ran.stdout).toMatch(/anthropic:claude-sonnet-5-5 answers[^]*Done\.[^]*10 in, 5 out/);
    const file = await nexus.write("mcp.json", local({ baseUrl: `${openai.url}${ending}` }));
    expect(await models(["test", "--config", file])).toMatchObject({ code: 0 });
  });

  test("test prints one object with --json, with the cost if prices are configured", async () => {
    const file = await nexus.write("mcp.json", local({ prices: { "fake-large": { input: 1, output: 2 } } }));
    const { code, stdout } = await models(["test", "--config", file, "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      model: "local:fake-large",
      text: "Done.",
      stopReason: "end",
      usage: { inputTokens: 10, outputTokens: 5 },
      cost: 0.00002,
    });
  });

  test("errors have the exit code of their cause, and say what to do", async () => {
    const none = await models(["test"], { ANTHROPIC_API_KEY: "" });
    expect(none).toMatchObject({ code: 3, stdout: "" });
    expect(none.stderr).toContain("No model is configured");
    expect(none.stderr).toContain("ANTHROPIC_API_KEY");
    const noKey = await models(["test", "openai:gpt-5.5"]);
    expect(noKey).toMatchObject({ code: 3, stderr: expect.stringContaining("OPENAI_API_KEY") });
    const wrong = await models(["test"], { ANTHROPIC_API_KEY: "wrong-key-0815" });
    expect(wrong).toMatchObject({ code: 8, stderr: expect.stringContaining("ANTHROPIC_API_KEY") });
    expect(wrong.stderr).not.toContain("wrong-key-0815");
    const broken = await models(["test"], { ANTHROPIC_API_KEY: "half-of-a-key\nand-the-rest" });
    expect(broken).toMatchObject({ code: 3, stderr: expect.stringContaining("such as a line break") });
    expect(broken.stderr).not.toContain("half-of-a-key");
    const unknown = await models(["test", "anthropic:claude-smal"]);
    expect(unknown).toMatchObject({ code: 6, stderr: expect.stringContaining("anthropic:claude-small") });
    expect(await models(["test", "antropic:x"])).toMatchObject({
      code: 6,
      stderr: expect.stringContaining(`"anthropic:x"`),
    });
    expect(await models(["test", "claude-small"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("anthropic:claude-small"),
    });
    expect(await models(["test", "anthropic:"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("provider:model"),
    });
    anthropic.script(ANTHROPIC_FAILURES.contextTooLong(), ANTHROPIC_FAILURES.refusedContent(), {
      text: "",
      stop: "refusal",
    });
    for (let each = 0; each < 3; each++) expect(await models(["test"])).toMatchObject({ code: 5 });
    anthropic.script({ text: ["a", "b"], stallAfter: 3 });
    expect(await models(["test", "--timeout", "500ms"])).toMatchObject({ code: 7 });
    anthropic.fallback = ANTHROPIC_FAILURES.overloaded();
    const down = await models(["test"]);
    expect(down).toMatchObject({ code: 4, stderr: expect.stringContaining(anthropic.url) });
  });

  test("a limit that lasts longer than the timeout fails at once and says how long", async () => {
    const file = await nexus.write("mcp.json", local());
    openai.script(OPENAI_FAILURES.rateLimited({ "retry-after": "3600" }));
    const ran = await models(["test", "--config", file, "--timeout", "5s"]);
    expect(ran).toMatchObject({ code: 4, stderr: expect.stringContaining("60 min") });
    expect(openai.asked).toHaveLength(1);
    openai.script(OPENAI_FAILURES.rateLimited({ "retry-after": "1" }));
    const waited = await models(["test", "--config", file, "--timeout", "30s"]);
    expect(waited).toMatchObject({ code: 0, stderr: expect.stringContaining("waiting 1 s") });
  });

  test("a stored secret is the key, and is sent to no other address than its first", async () => {
    expect(await nexus.run(["secrets", "set", "local"], { stdin: "test-key" })).toMatchObject({ code: 0 });
    const file = await nexus.write("mcp.json", local({ apiKey: "${secret:local}" }));
    expect(await models(["test", "--config", file])).toMatchObject({ code: 0 });
    await using other = await openOpenAiFake();
    const elsewhere = await nexus.write("other.json", local({ apiKey: "${secret:local}", baseUrl: other.url }));
    const refused = await models(["test", "--config", elsewhere]);
    expect(refused).toMatchObject({ code: 8, stderr: expect.stringContaining("nexus secrets allow local") });
    expect(other.requests).toHaveLength(0);
    const variable = await nexus.write("variable.json", local({ apiKey: "${LOCAL_KEY}" }));
    expect(await models(["test", "--config", variable], { LOCAL_KEY: "test-key" })).toMatchObject({ code: 0 });
    const unset = await models(["test", "--config", variable]);
    expect(unset).toMatchObject({ code: 3, stderr: expect.stringContaining("LOCAL_KEY is not set") });
  });

  test("the configuration of a project has no effect on models", async () => {
    await nexus.write("home/work/project/.mcp.json", { mcpServers: {}, ...local() });
    expect((await models(["list", "--trust"])).stdout).not.toContain("local");
    const said = /"models" in \S+\.mcp\.json is ignored: only your own configuration may choose models/;
    const none = { ANTHROPIC_API_KEY: "" };
    for (const args of [
      ["chat", "-p", "hi"],
      ["models", "test"],
      ["models", "list"],
      ["models", "test", "local:fake-large"],
    ]) {
      expect((await nexus.run(args, { env: { ...env, ...none } })).stderr, args.join(" ")).toMatch(said);
    }
    const file = await nexus.write("none.json", { mcpServers: {} });
    expect((await models(["test", "--config", file], none)).stderr).not.toContain("ignored");
    expect((await models(["test"])).stderr).toBe("");
  });

  test("mistakes in the configuration are refused with a suggestion", async () => {
    for (const [content, said] of [
      [{ models: { defualt: "a:b" } }, `Did you mean "default"?`],
      [local({ baseURL: "http://127.0.0.1:1" }), `Did you mean "baseUrl"?`],
      [local({ type: "ollama" }), "openai-compatible"],
      [local({ baseUrl: "127.0.0.1:11434" }), "is not an http or https address"],
      [local({ headers: { a: 1 } }), "must be text, not a number"],
      [local({ prices: { x: { input: "1", output: 2 } } }), "US dollars"],
      [local({ models: "x" }), "must be a list, not text"],
      [local({}, { default: "fake-large" }), "provider:model"],
      [{ models: { providers: { local: { type: "openai-compatible" } }, default: "local:x" } }, `no "baseUrl"`],
      [
        { models: { providers: { local: { type: "openai", baseUrl: "http://127.0.0.1:1" } }, default: "local:x" } },
        "no API key",
      ],
    ] as const) {
      const file = await nexus.write("mcp.json", content);
      expect(await models(["test", "--config", file]), said).toMatchObject({
        code: 3,
        stderr: expect.stringContaining(said),
      });
    }
  });

  test("an unknown provider in models.default is a mistake of the file, one on the command line an unknown name", async () => {
    const file = await nexus.write("mcp.json", local({}, { default: "lokal:fake-large" }));
    const configured = await models(["test", "--config", file]);
    expect(configured).toMatchObject({ code: 3, stdout: "" });
    expect(configured.stderr).toContain(
      `"models.default" is "lokal:fake-large", but there is no model provider "lokal"`,
    );
    expect(configured.stderr).toMatch(/mcp\.json:\d+:\d+/);
    expect(configured.stderr).toContain(`Did you mean "local:fake-large"?`);
    const named = await models(["test", "lokal:fake-large", "--config", file]);
    expect(named).toMatchObject({ code: 6, stderr: expect.stringContaining(`There is no model provider "lokal"`) });
    expect(named.stderr).not.toContain("models.default");
    expect(await nexus.run(["chat", "-p", "hi", "--config", file], { env })).toMatchObject({ code: 3 });
  });

  test("without the packages of providers other commands work, and the message says what to install", async () => {
    // A copy of the program has no packages beside it.
    await cp(new URL("../../dist", import.meta.url), join(nexus.root, "alone/dist"), { recursive: true });
    await nexus.write("alone/package.json", { name: "nexus-mcp", type: "module" });
    const alone = `node ${join(nexus.root, "alone/dist/cli/main.js")}`;
    expect(await nexus.shell(`${alone} models list`, { env })).toMatchObject({ code: 0 });
    expect(await nexus.shell(`${alone} mcp servers`, { env })).toMatchObject({ code: 0 });
    const missing = await nexus.shell(`${alone} models test`, { env });
    expect(missing).toMatchObject({ code: 3, stderr: expect.stringContaining("npm install @ai-sdk/anthropic@3") });
    expect(anthropic.asked).toHaveLength(0);
  });

  test("the packages of providers are loaded only when a model is used", async () => {
    const dist = fileURLToPath(new URL("../../dist", import.meta.url));
    const names = (await readdir(dist, { recursive: true })).filter((name) => name.endsWith(".js"));
    const texts = await Promise.all(names.map((name) => readFile(join(dist, name), "utf8")));
    const modules = texts.map((text) => ({ text, module: parseSync("dist.js", text).module }));
    const namesProvider = (name: string) => name.startsWith("@ai-sdk/");
    const eager = modules.flatMap(({ module }) => [
      ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
      ...module.staticExports.flatMap(({ entries }) => entries.map((entry) => entry.moduleRequest?.value ?? "")),
    ]);
    expect(eager.filter(namesProvider)).toEqual([]);
    const lazy = modules.map(({ text, module }) =>
      module.dynamicImports.map(({ moduleRequest }) => text.slice(moduleRequest.start + 1, moduleRequest.end - 1)),
    );
    expect(lazy.filter((requests) => requests.some(namesProvider))).toHaveLength(1);
  });
});
