import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  ask,
  beforeConfig,
  BEFORE_ENV,
  loadBefore,
  QUESTIONS,
  SEEN,
  unpack,
  type Before,
} from "../fixtures/before/before-world.ts";
import { NexusWorld } from "../fixtures/nexus.ts";
import { openAnthropicFake } from "../fixtures/providers/anthropic-fake.ts";
import type { ProviderFake } from "../fixtures/providers/provider-fake.ts";
import { onBothEngines } from "../fixtures/store-world.ts";
import { NexusGateway } from "../security/nexus-gateway.ts";

/** The servers of the fixtures run anywhere but on Windows. */
const isHere = process.platform !== "win32";

let before: Before;
let nexus: NexusWorld;
let provider: ProviderFake;

beforeAll(async () => {
  [before, nexus, provider] = await Promise.all([loadBefore(), NexusWorld.open(), openAnthropicFake()]);
  await unpack(before, nexus);
  await nexus.write("home/.nexus/mcp.json", beforeConfig(provider, { isChanged: true }));
});

afterAll(async () => {
  await nexus[Symbol.asyncDispose]();
  await provider.close();
});

const run = (...args: string[]) => nexus.run([...args, "--json"], { env: BEFORE_ENV });

/** What the version before printed. */
function saidBefore(line: string): Record<string, unknown> {
  return (before.said[line]?.out ?? {}) as Record<string, unknown>;
}

describe.runIf(isHere)("what the version before left behind", () => {
  let said: Before["said"];
  beforeAll(async () => {
    said = await ask(nexus);
  });

  test.each(QUESTIONS)("nexus %s says the same as it did", (line) => {
    expect(said[line]).toMatchObject(before.said[line] ?? {});
  });

  test("a pinned tool that has changed is held, and what was accepted is not", async () => {
    expect((await run("mcp", "call", "pinned.read")).code).toBe(0);
    const { code, stderr } = await run("mcp", "call", "pinned.pay");
    expect({ code, stderr }).toMatchObject({
      code: 8,
      stderr: expect.stringContaining("DEFINITION_CHANGED") as string,
    });
  });

  test("a tool that was always allowed is not asked about, and a saved chat goes on", async () => {
    const calls = [{ name: "mcp__notes__write", arguments: { text: "two" } }];
    provider.script({ text: "Again.", calls }, { text: "It is written again." });
    const { code, stdout } = await run("chat", "--resume", before.chat, "-p", "Write two", "--server", "notes");
    expect({ code, answer: JSON.parse(stdout) as object }).toMatchObject({
      code: 0,
      answer: { text: "It is written again.", session: before.chat, steps: [{ tool: "write", outcome: "ok" }] },
    });
    expect(JSON.stringify(provider.asked[0]?.body?.messages)).toContain("It is written.");
  });

  test("a gateway lets in the same keys, shows them the same tools, and serves what is published without a new approval", async () => {
    await using gateway = await NexusGateway.start(nexus, [], { env: BEFORE_ENV });
    for (const [name, path] of SEEN) {
      const { json } = await gateway.post(before.keys[name], "tools/list", {}, path);
      expect({ [`${name} ${path}`]: json.result?.["tools"] as unknown }).toEqual({
        [`${name} ${path}`]: before.tools[`${name} ${path}`],
      });
    }
    expect(await gateway.statusFor(before.keys["former"])).toBe(401);
    expect(await gateway.statusFor(before.keys["operator"])).toBe(200);
    const found = await gateway.post(before.keys["agent"], "tools/call", {
      name: "orders__find_order",
      arguments: { id: "A1" },
    });
    expect(found.json.result).toMatchObject({ structuredContent: { id: "A1", state: "open" } });
    const hidden = await gateway.post(before.keys["reader"], "tools/call", { name: "notes__write", arguments: {} });
    expect(hidden.json).toHaveProperty("error");
  });

  test("the audit goes on where it ended, and is verified as a whole", async () => {
    const { code, stdout } = await run("audit", "verify");
    const { tenants } = JSON.parse(stdout) as { tenants: { tenant: string; records: number }[] };
    const { tenants: earlier } = saidBefore("audit verify") as { tenants: { records: number }[] };
    expect({ code, tenants }).toMatchObject({ code: 0, tenants: [{ tenant: "default" }, { tenant: "shop" }] });
    expect(tenants[0]?.records).toBeGreaterThan(earlier[0]?.records ?? Infinity);
  });
});

onBothEngines("a backup of the version before", (stores) => {
  test.each(["sqlite.backup", "postgres.backup"])("%s is restored with all that was in it", async (name) => {
    const database = await stores().newAddressText();
    const restored = await run("store", "restore", join(nexus.home, name), "--database", database);
    expect(restored).toMatchObject({ code: 0 });
    for (const line of [
      "store check",
      "audit verify",
      "audit list --limit 100",
      "keys list",
      "tenants list",
      "sets list",
    ]) {
      const { stdout } = await run(...line.split(" "), "--database", database);
      const { database: _place, ...out } = saidBefore(line);
      expect({ [line]: JSON.parse(stdout) as object }).toMatchObject({ [line]: out });
    }
    const { stdout } = await run("api", "versions", "orders", "--database", database);
    expect(JSON.parse(stdout)).toMatchObject(saidBefore("api versions orders"));
  });
});
