import { expect, test, vi } from "vitest";
import { StoreWorld } from "../../test/fixtures/store-world.ts";
import { DEFAULT_AUDIT, type AuditSettings } from "../config/gateway-settings.ts";
import { NexusError } from "../errors/nexus-error.ts";
import { SILENT } from "../text/logger.ts";
import { accountActor } from "./actor.ts";
import { LocalClient } from "./client.ts";
import { LoadedToolFiles } from "./loaded-tool-files.ts";
import { LocalAudit } from "./local-audit.ts";
import { OperationRunner, recordChange } from "./run-operation.ts";
import type { Services } from "./services.ts";
import { SETS } from "./sets.ts";

async function openClient(world: StoreWorld, onFailure: AuditSettings["onFailure"]) {
  const store = await world.openStore();
  const warnings: string[] = [];
  const logger = { ...SILENT, warn: (text: string) => void warnings.push(text) };
  const audit = new LocalAudit({ store, loadSettings: async () => ({ ...DEFAULT_AUDIT, onFailure }), logger });
  const runner = new OperationRunner<Services>({
    services: {
      store,
      gateway: { findHost: () => undefined, useHost: async () => undefined, activityOf: () => undefined },
      useServers: async () => undefined,
      secretsOf: async (tenant) => store.secrets(tenant),
      toolFiles: new LoadedToolFiles(),
      stateFolder: world.folder,
      logger,
    },
    surface: "cli",
    requireRecordable: (tenant) => audit.requireReady(tenant),
    record: (change) => recordChange(store, audit, change),
  });
  const { signal } = new AbortController();
  const client = new LocalClient(runner, { actor: accountActor("ada"), signal, again: "" });
  const create = (name: string) => client.call(SETS.createSet, { tenant: "default", name, allow: ["*"] });
  const names = async () => (await store.sets.list("default")).map(({ name }) => name);
  return { store, warnings, create, names };
}

const away = async () => {
  throw new NexusError("STORE_UNAVAILABLE", "The database does not answer");
};

test("where changes have to be recorded, a command changes nothing that it could not record", async () => {
  await using world = await StoreWorld.open("sqlite");
  const { store, create, names } = await openClient(world, "closed");
  const lock = vi.spyOn(store.audit.marks, "lock").mockImplementation(away);
  await expect(create("first")).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  expect(await names()).toEqual([]);
  lock.mockRestore();
  await create("second");
  expect(await names()).toEqual(["second"]);
  const { items } = await store.audit.list("default", {}, { limit: 10 });
  expect(items).toMatchObject([{ method: "cli/createSet", target: "second", keyId: null, account: "ada" }]);
});

test("otherwise a command changes what it was asked to, and says that this is not recorded", async () => {
  await using world = await StoreWorld.open("sqlite");
  const { store, warnings, create, names } = await openClient(world, "open");
  vi.spyOn(store.audit, "append").mockImplementation(away);
  await create("first");
  expect(await names()).toEqual(["first"]);
  expect(warnings).toEqual(["this change is not in the audit: The database does not answer"]);
});
