import { chmod, readFile } from "node:fs/promises";
import type { IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FileSecretStore } from "../../src/auth/secrets.ts";
import { serve } from "../../src/gateway/index.ts";
import { connect, Host } from "../../src/index.ts";
import type { CallToolResult } from "../../src/protocol/mcp.ts";
import type { NexusWorld } from "../fixtures/nexus.ts";
import { exampleSettings } from "../../src/workshop/run/setting-values.ts";
import { ApiWorld } from "./api-world.ts";
import { booking } from "./capcorn/capcorn-stay.ts";

const SECRETS = { user: "partner", password: "word", system: "21", "pin-9100": "k-81-k" };
const FILE = fileURLToPath(new URL("../../api/capcorn/capcorn.nexus.yaml", import.meta.url));
/** What a version recorded that knew writes by the API's name: two bookings, and one that was not answered. */
const FORMER = new URL("../fixtures/workshop/writes-by-api-name.jsonl", import.meta.url);

let world: ApiWorld;
beforeAll(async () => {
  const prepare = async (home: NexusWorld, { port }: URL) => {
    const text = (await readFile(FORMER, "utf8")).replaceAll("PORT", port);
    await chmod(await home.write("home/.local/state/nexus/writes/capcorn.jsonl", text), 0o600);
  };
  world = await ApiWorld.open({ api: "capcorn", secrets: SECRETS, prepare });
});
afterAll(() => world?.[Symbol.asyncDispose]());

async function byCommand(reference: string): Promise<string> {
  const args = JSON.stringify(booking({ reference }));
  const { stdout } = await world.world.run(["mcp", "call", "capcorn.create_reservation", "--args", args]);
  return stdout;
}

async function throughGateway(reference: string): Promise<string> {
  const caller = await world.caller("ours, modern");
  return textOf(await caller.call("create_reservation", booking({ reference })));
}

function textOf({ content }: CallToolResult): string {
  return content.map(({ text }) => text).join("\n");
}

test("X15: without authentication the command line and the gateway are one caller: the same booking is sent once", async () => {
  const before = world.sent("create_reservation");
  expect(await byCommand("first here")).toContain("Booked");
  expect(await throughGateway("first here")).toContain("already done");
  expect(await throughGateway("first there")).toContain("Booked");
  expect(await byCommand("first there")).toContain("already done");
  expect(world.sent("create_reservation")).toBe(before + 2);
});

test("X15: callers that a gateway has authenticated stay apart, also from whoever runs it", async () => {
  const stateFolder = join(world.world.root, "other-state");
  const secrets = new FileSecretStore({ folder: join(stateFolder, "secrets"), platform: process.platform });
  for (const [name, value] of Object.entries(SECRETS)) {
    await secrets.set(`capcorn.${name}`, value, [new URL(world.fake.url).origin]);
  }
  await using host = await Host.open({
    servers: { capcorn: { api: FILE, upstream: world.fake.url, settings: exampleSettings(world.file) } },
    stateFolder,
  });
  const authenticate = ({ authorization = "" }: IncomingHttpHeaders) => {
    const [tenant = "", id = ""] = authorization.replace("Bearer ", "").split(" ");
    return { tenant, id };
  };
  await using gateway = await serve({ host, port: 0, authenticate });
  const before = world.sent("create_reservation");
  const mine = booking({ reference: "apart" });
  for (const _ of ["once", "again"]) {
    expect(textOf(await host.callTool("capcorn.create_reservation", mine))).toMatch(/^(Booked|This was already done)/);
    for (const who of ["default ann", "default bob", "other ann", "default anybody", "default local"]) {
      await using client = await connect({ url: gateway.url, headers: { authorization: `Bearer ${who}` } });
      await client.callTool("capcorn__create_reservation", mine);
    }
  }
  expect(world.sent("create_reservation")).toBe(before + 6);
});

test("X15: a booking that an older version recorded is recognised, by whichever way it came", async () => {
  const before = world.sent("create_reservation");
  for (const book of [byCommand, throughGateway]) {
    expect(await book("by the command line")).toMatch(/already done[^]*booking id XTHHEHDRGSZHVBAAQAYT/);
    expect(await book("through the gateway")).toMatch(/already done[^]*booking id WFAB58LFPEUTASTPG7KR/);
    // The id that the hotel knows it by, if it does.
    expect(await book("not answered")).toMatch(/It is not sent again\.[^]* the id ERWSML8G9RAEXTE47ZYM arrived/);
  }
  expect(world.sent("create_reservation")).toBe(before);
});
