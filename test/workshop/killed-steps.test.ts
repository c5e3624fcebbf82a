import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CallToolResult } from "../../src/protocol/mcp.ts";
import { FileWriteLedger } from "../../src/workshop/run/writes/file-write-ledger.ts";
import { isFull } from "../fixtures/depth.ts";
import { gardenApi, openGarden, type Garden } from "./garden-world.ts";

const PROGRAM = fileURLToPath(new URL("../fixtures/workshop/killed-caller.mjs", import.meta.url));
const ORDER = { email: "eve@example.com", lines: [{ sku: "RO101" }, { sku: "TU200", units: 3 }] };
/** Every write has to be there once. */
const WRITES = ["POST customers", "POST orders", "POST orders/O-7/lines RO101", "POST orders/O-7/lines TU200"];
/** After this, a write without a recorded outcome is unknown. */
const MUCH_LATER_MS = 3_600_000;

const api = gardenApi();
let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "nexus-killed-"));
  await writeFile(join(folder, "api.json"), JSON.stringify(api));
});
afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));

type Kill = { by: "records"; moment: number } | { by: "shop"; moment: number };

/** Makes the call in a process that is killed at one moment; undefined if it was not killed. */
async function callKilled(garden: Garden, ledger: string, kill: Kill): Promise<string | undefined> {
  const moment = kill.by === "records" ? kill.moment : 0;
  const args = [PROGRAM, join(folder, "api.json"), ledger, garden.url, String(moment), JSON.stringify(ORDER)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let [passed, printed] = [0, ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (printed += text));
  const closed = once(child, "close");
  garden.onMoment = async () => {
    passed += 1;
    if (kill.by !== "shop" || passed !== kill.moment) return true;
    child.kill("SIGKILL");
    await closed;
    return false;
  };
  await closed;
  garden.onMoment = () => true;
  return child.signalCode === "SIGKILL" ? undefined : printed;
}

function textOf({ content }: CallToolResult): string {
  return content.map(({ text }) => text).join("\n");
}

function writesOf({ written }: Garden): string[] {
  return written.map(({ what, body }) => `${what} ${String(body["sku"] ?? "")}`.trim());
}

/** Repeats the call after the process died, right then and much later, and checks what reached the shop. */
async function checkAfterwards(garden: Garden, file: string, at: string): Promise<"finished" | "unknown"> {
  const ledger = () => new FileWriteLedger({ file, platform: process.platform });
  const soon = await garden.open({ ledger: ledger() }).call("create_order", ORDER);
  const inAnHour = () => Date.now() + MUCH_LATER_MS;
  const later = new FileWriteLedger({ file, platform: process.platform, now: inAnHour });
  const last = await garden.open({ ledger: later, now: inAnHour }).call("create_order", ORDER);
  const writes = writesOf(garden);
  expect(new Set(writes).size, `${at}: ${writes.join(", ")}`).toBe(writes.length);
  if (!last.isError) {
    expect(writes, at).toEqual(WRITES);
    expect(last.structuredContent, at).toEqual({
      orderId: "O-7",
      customerId: "C-9",
      isNewCustomer: true,
      state: "confirmed",
      lines: [
        { line: 1, price: 12 },
        { line: 2, price: 12 },
      ],
    });
    return "finished";
  }
  expect(textOf(soon), at).toMatch(/running in another process/);
  expect(textOf(last), at).toMatch(/the outcome is not known \(id [2-9A-Z]{20}\)/);
  expect(writes, at).toEqual(WRITES.slice(0, writes.length));
  // A person finds out what happened and records it: then the rest is made, or it says what is missing.
  const [unknown] = await later.unknown();
  expect(unknown?.tool, at).toMatch(/^create_order, step (created|order|lines\[\d\]) \((create|post|add)_/);
  const hasHappened = writes.length > 0 && lastIs(unknown?.tool ?? "", writes.at(-1) ?? "");
  if (hasHappened) return "unknown";
  await later.resolve(unknown?.key ?? "", { kind: "refused" });
  const resumed = await garden.open({ ledger: later, now: inAnHour }).call("create_order", ORDER);
  expect(resumed.isError, `${at}: ${textOf(resumed)}`).toBeUndefined();
  expect(writesOf(garden), at).toEqual(WRITES);
  return "unknown";
}

/** Whether the last write that reached the shop is the one of this step. */
function lastIs(label: string, write: string): boolean {
  const of: Record<string, string> = {
    created: "POST customers",
    order: "POST orders",
    "lines[0]": "POST orders/O-7/lines RO101",
    "lines[1]": "POST orders/O-7/lines TU200",
  };
  const [, step = ""] = /step (\S+) /.exec(label) ?? [];
  return of[step] === write;
}

/** A quick run tries a part of the moments. */
const EVERY = isFull ? 1 : 3;
const AT_ONCE = 4;

/** Kills at each moment in its own world, and once after the last: there the call is finished. */
async function killEverywhere(by: Kill["by"], count: number): Promise<Set<string>> {
  const ends = new Set<string>();
  const moments = Array.from({ length: count }, (_, index) => index + 1).filter((moment) => moment % EVERY === 0);
  const killAt = async (moment: number) => {
    await using garden = await openGarden(api);
    const ledger = join(folder, `${by}-${moment}.jsonl`);
    const printed = await callKilled(garden, ledger, { by, moment });
    if (moment <= count) {
      expect(printed, `${by} at ${moment}`).toBeUndefined();
      ends.add(await checkAfterwards(garden, ledger, `killed by the ${by} at ${moment}`));
      return;
    }
    expect(JSON.parse(printed ?? "")).toMatchObject({ structuredContent: { orderId: "O-7", state: "confirmed" } });
    expect(writesOf(garden)).toEqual(WRITES);
  };
  const waiting = [...moments, count + 1];
  const work = async () => {
    for (let moment = waiting.shift(); moment !== undefined; moment = waiting.shift()) await killAt(moment);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return ends;
}

test("X15: steps that are killed before and after each record never send a write twice", async () => {
  // Four writes with two records each, and the record of the whole call.
  const ends = await killEverywhere("records", 4 * 4 + 2);
  expect(ends).toEqual(new Set(["finished", "unknown"]));
});

test("X15: steps that are killed before and after each request is carried out never send a write twice", async () => {
  // Four writes and three reads.
  const ends = await killEverywhere("shop", 7 * 2);
  expect(ends).toEqual(new Set(["finished", "unknown"]));
});
