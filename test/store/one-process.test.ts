import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { StoreWorld } from "../fixtures/store-world.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const run = promisify(execFile);

let world: StoreWorld;
beforeEach(async () => {
  world = await StoreWorld.open("sqlite");
});
afterEach(() => world[Symbol.asyncDispose]());

/** Another process opens the file, runs SQL and closes the file, which removes the log if no other connection seems to be open. */
async function elsewhere(file: string, sql: string): Promise<void> {
  const script = `
    const Database = require("libsql");
    const database = new Database(process.argv[1]);
    database.exec(process.argv[2]);
    database.close();`;
  await run(process.execPath, ["--input-type=commonjs", "-e", script, file, sql], { cwd: ROOT });
}

test("a store that a process opens twice stays whole when other processes come and go (X9)", async () => {
  const address = await world.newAddress();
  if (address.kind !== "sqlite") throw new Error("not a file");
  const first = await world.openStore({ address });
  await first.trust.trust("/a", "one");
  await (await world.openStore({ address })).close();

  await elsewhere(address.file, "delete from nexus_trust where 1 = 0");
  await elsewhere(address.file, "insert into nexus_generations (topic, value) values ('keys', 7)");
  const seen = await first.engine.db.selectFrom("nexus_generations").selectAll().where("topic", "=", "keys").execute();
  expect(seen).toEqual([{ topic: "keys", value: 7 }]);

  await first.trust.trust("/b", "two");
  await elsewhere(address.file, "update nexus_generations set value = 8 where topic = 'keys'");
  expect(await first.engine.findDamage()).toEqual([]);
  const again = await world.openStore({ address });
  expect(await again.trust.isTrusted("/b", "two")).toBe(true);
});
