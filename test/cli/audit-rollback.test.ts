import { cp, rm } from "node:fs/promises";
import { expect, test } from "vitest";
import { NexusWorld } from "../fixtures/nexus.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";
import { addressOf, StoreWorld } from "../fixtures/store-world.ts";
import { NexusGateway } from "../security/nexus-gateway.ts";

test("X7: an older database that is put back under a gateway is found by commands, until its loss is accepted", async () => {
  await using nexus = await NexusWorld.open();
  await using stores = await StoreWorld.open("sqlite");
  const database = await stores.newAddressText();
  const address = addressOf(database);
  if (address.kind !== "sqlite") throw new Error("it is a file");
  await nexus.configure({ kit: stdioFixture() });
  const on = (...args: string[]) => nexus.run([...args, "--database", database]);
  const key = (await on("keys", "create", "k", "--allow", "*")).stdout.trim();
  const serve = async (calls: number) => {
    await using gateway = await NexusGateway.start(nexus, ["--database", database]);
    for (let count = 0; count < calls; count++) {
      const { status } = await gateway.post(key, "tools/call", { name: "kit__echo", arguments: { text: "hi" } });
      expect(status).toBe(200);
    }
  };
  await serve(2);
  await cp(address.file, `${address.file}.copy`);
  await serve(2);
  for (const ending of ["-wal", "-shm"]) await rm(`${address.file}${ending}`, { force: true });
  await cp(`${address.file}.copy`, address.file);

  const found = { code: 10, stdout: expect.stringContaining("an older state was put back") };
  expect(await on("audit", "verify")).toMatchObject({
    ...found,
    stderr: expect.stringContaining("nexus audit verify --accept-loss"),
  });
  expect(await on("store", "check")).toMatchObject(found);
  // Also when there are more records than before.
  await serve(3);
  expect(await on("audit", "verify")).toMatchObject(found);
  const accepted = await on("audit", "verify", "--accept-loss");
  expect([accepted.code, accepted.stdout + accepted.stderr]).toEqual([
    0,
    expect.stringContaining("because their loss was accepted on"),
  ]);
  await serve(1);
  expect(await on("audit", "verify")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("7 records, no damage"),
  });
}, 120_000);
