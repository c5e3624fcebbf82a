import { afterEach, expect, test, vi } from "vitest";
import { DEFAULT_AUDIT } from "../config/audit-setting.ts";
import { NexusError } from "../errors/nexus-error.ts";
import type { Store } from "../store/store.ts";
import { SILENT } from "../text/logger.ts";
import { StoredAudit } from "./stored-audit.ts";

afterEach(() => {
  vi.useRealTimers();
});

test("a damaged audit of one tenant does not keep old records of others, and nothing is removed after the end", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const pruned: string[] = [];
  let end: (removed: number) => void = () => {};
  const ended = new Promise<number>((resolve) => (end = resolve));
  const prune = async (tenant: string) => {
    pruned.push(tenant);
    if (tenant === "a") throw new NexusError("DATA_DAMAGED", "Records were changed");
    return ended;
  };
  const store = {
    audit: { tenants: async () => ["a", "b"], prune },
    masterKey: { derive: () => Buffer.alloc(32) },
  } as unknown as Store;
  const audit = new StoredAudit({ store, settings: DEFAULT_AUDIT, logger: SILENT });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(pruned).toEqual(["a", "b"]);
  await audit[Symbol.asyncDispose]();
  end(1);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(pruned).toEqual(["a", "b"]);
});
