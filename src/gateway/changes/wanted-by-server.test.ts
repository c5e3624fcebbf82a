import { expect, test } from "vitest";
import type { Host } from "../../host/host.ts";
import { ANYBODY } from "../../server/core/principal.ts";
import { MemoryLedger } from "../../host/definitions/memory-ledger.ts";
import { Pins } from "../../host/definitions/pins.ts";
import { SILENT } from "../../text/logger.ts";
import { NO_ENTRY_RULES, Policy } from "../../host/directory/policy.ts";
import type { CallRunner } from "../calls/upstream-call.ts";
import { PrincipalAccess } from "../access/principal-access.ts";
import { wantedByServer } from "./listening.ts";

const docs = { id: "docs", definition: { tools: {} } };
const host = { find: (id: string) => (id === "docs" ? docs : undefined) } as unknown as Host;
const calls = { findTask: (taskId: string) => ({ server: "docs", taskId: `own ${taskId}` }) } as unknown as CallRunner;
const pins = new Pins({ ledger: new MemoryLedger(), pinOf: () => undefined, optionsAgain: "", logger: SILENT });
const access = new PrincipalAccess(new Policy({}, NO_ENTRY_RULES), {}, { pins });
const around = { host, calls, access, mayFollow: async () => true };

test("a caller can subscribe to at most a thousand resources and tasks, because a server gets a request for each", async () => {
  const resources = Array.from({ length: 5000 }, (_, index) => `docs+file:///${index}`);
  const tasks = resources.map((uri) => `task ${uri}`);
  const wanted = await wantedByServer({ resources, tasks }, { view: { kind: "all" }, principal: ANYBODY }, around);
  expect(wanted.get("docs")?.resources).toHaveLength(1000);
  expect(wanted.get("docs")?.resources.at(-1)).toBe("file:///999");
  expect(wanted.get("docs")?.tasks.size).toBe(1000);
});

test("unknown names are left out, and everything after the first + is the server's own URI", async () => {
  const resources = ["docs+a+b://c", "nobody+x://y", "x://y", "+x://y"];
  const wanted = await wantedByServer({ resources }, { view: { kind: "all" }, principal: ANYBODY }, around);
  expect([...wanted].map(([server, its]) => [server, its.resources])).toEqual([["docs", ["a+b://c"]]]);
});
