import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Logger } from "../../../src/index.ts";
import type { Params } from "../../../src/protocol/json-rpc.ts";
import type { WireMessage } from "../../fixtures/json-line-peer.ts";
import { parrot } from "./faults-servers.ts";
import { FaultWorld, ModernCaller, textIn } from "./faults-world.ts";
import { endless, nested, nestedHandshake, type Endless } from "./hostile-servers.ts";
import { LegacyWire } from "../legacy/legacy-wire.ts";

const LISTS = [
  ["tools/list", "tools"],
  ["prompts/list", "prompts"],
  ["resources/list", "resources"],
  ["resources/templates/list", "resourceTemplates"],
] as const;

/** What the gateway says of servers that it cannot show, and what it shows. */
async function listed(caller: ModernCaller, method: string, member: string) {
  const { message } = await caller.request(method);
  const items = message.result?.[member] as { name: string }[] | undefined;
  const unavailable = (message.result?._meta?.["dev.nexus/unavailable"] ?? []) as Params[];
  return { error: message.error, names: items?.map(({ name }) => name) ?? [], unavailable };
}

describe("A server whose lists never end fails alone", () => {
  test.for<Endless>(["same cursor", "small pages", "long pages", "heavy pages", "long cursors", "one long page"])(
    "%s",
    { timeout: 120_000 },
    async (kind) => {
      await using world = await FaultWorld.open(() => ({ bad: endless(kind), good: parrot() }));
      using caller = new ModernCaller(world.gateway.url);
      for (const [method, member] of LISTS) {
        let last = await listed(caller, method, member);
        // While it is being read, the gateway says so, and serves the rest.
        while (last.unavailable[0]?.["code"] === "TIMEOUT") last = await listed(caller, method, member);
        expect(last).toMatchObject({
          error: undefined,
          names: method === "tools/list" ? ["good__say"] : [],
          unavailable: [{ server: "bad", code: "PROTOCOL_VIOLATION" }],
        });
      }
      expect(textIn(await caller.tool("good__say"))).toBe("said");
    },
  );
});

describe("What a server nests very deeply is left out, and costs nobody else anything", () => {
  const warnings: string[] = [];
  const logger: Logger = { debug() {}, info() {}, warn: (text) => warnings.push(text), error() {} };
  let world: FaultWorld;
  let all: ModernCaller;
  let one: ModernCaller;

  beforeAll(async () => {
    const servers = () => ({ deep: nested(), good: parrot(), odd: nestedHandshake() });
    world = await FaultWorld.open(servers, { logger }, { logger });
    all = new ModernCaller(world.gateway.url);
    one = world.caller("deep");
  });

  afterAll(async () => {
    all[Symbol.dispose]();
    one[Symbol.dispose]();
    await world[Symbol.asyncDispose]();
  });

  const usable = ["fine", "result", "error", "notify", "ask"];

  test.for([
    ["tools/list", "tools", [...usable.map((name) => `deep__${name}`), "good__say"], usable, "deep-schema"],
    ["prompts/list", "prompts", ["deep__fine"], ["fine"], "deep"],
    ["resources/list", "resources", ["fine"], ["fine"], "deep"],
    ["resources/templates/list", "resourceTemplates", ["fine"], ["fine"], "deep"],
  ] as const)(
    "of %s the rest is shown, and what is left out is named in the log",
    async ([method, member, both, own, name]) => {
      expect(await listed(all, method, member)).toMatchObject({ error: undefined, names: both });
      expect(await listed(one, method, member)).toMatchObject({ error: undefined, names: own });
      expect(warnings).toContainEqual(
        expect.stringMatching(new RegExp(`skipped in ${method} of "deep" because it is nested .*"${name}"`)),
      );
    },
  );

  test("the manifest of a server has the rest of its tools", async () => {
    const response = await fetch(new URL("/servers/deep/tools", world.gateway.url));
    const { tools } = (await response.json()) as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(usable);
  });

  test("clients of older revisions are shown the rest", async () => {
    const legacy = await LegacyWire.open(world.gateway.url, "2025-06-18", {});
    const { result } = (await (await legacy.request("tools/list")).json()) as WireMessage;
    expect(result?.["tools"]).toHaveLength(usable.length + 1);
  });

  test.for(["result", "error"])("a nested %s of a tool is an error of that call alone", async (name) => {
    for (const [caller, tool] of [
      [all, `deep__${name}`],
      [one, name],
    ] as const) {
      const { message } = await caller.tool(tool);
      expect(message.error ?? message.result).toBeDefined();
      expect(JSON.stringify(message).length).toBeLessThan(2_000);
      expect(message.result?.isError === true || message.error !== undefined).toBe(true);
    }
    expect(textIn(await all.tool("deep__fine"))).toBe("fine");
  });

  test("nested messages of a server are dropped, and its call is answered", async () => {
    const meta = { progressToken: 7, "io.modelcontextprotocol/logLevel": "debug" };
    expect(textIn(await all.tool("deep__notify", {}, { meta }))).toBe("notified");
  });

  test("a nested question of a server is refused, and its call is answered", async () => {
    const capabilities = { elicitation: { form: {} } };
    expect(textIn(await all.tool("deep__ask", {}, { capabilities }))).toBe("refused");
  });

  test("a server that nests what it says of itself is not connected, and named", async () => {
    const { unavailable } = await listed(all, "tools/list", "tools");
    expect(unavailable).toMatchObject([{ server: "odd", code: "PROTOCOL_VIOLATION" }]);
    expect(textIn(await all.tool("good__say"))).toBe("said");
  });
});
