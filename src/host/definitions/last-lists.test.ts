import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { SILENT } from "../../text/logger.ts";
import { forgetLastLists, LastLists, listsFolder } from "./last-lists.ts";

function definition(url: string): ServerDefinition {
  return {
    id: "notes",
    entry: { id: "notes", reach: { kind: "http", url, headers: {} } },
  } as unknown as ServerDefinition;
}

test("what a server listed is forgotten for one tenant and one address, whatever clients could do", async () => {
  const stateFolder = await mkdtemp(join(tmpdir(), "nexus-lists-"));
  onTestFinished(() => rm(stateFolder, { recursive: true, force: true }));
  const folder = listsFolder(stateFolder);
  const open = (tenant: string, capabilities = {}) => new LastLists({ folder, tenant, capabilities, logger: SILENT });
  const [mine, other] = [definition("http://127.0.0.1:1/mcp"), definition("http://127.0.0.1:2/mcp")];
  for (const lists of [open("default"), open("default", { sampling: {} }), open("bank")]) {
    for (const each of [mine, other]) lists.note(each, "tools", [{ name: "read" }]);
    await lists.flush();
  }
  await forgetLastLists(stateFolder, { definition: mine, tenant: "default" });
  expect(open("default").find(mine, "tools")).toBeUndefined();
  expect(open("default", { sampling: {} }).find(mine, "tools")).toBeUndefined();
  expect(open("default").find(other, "tools")?.items).toHaveLength(1);
  expect(open("bank").find(mine, "tools")?.items).toHaveLength(1);
});

test("nothing was ever listed: forgetting it does nothing", async () => {
  const stateFolder = join(tmpdir(), "nexus-no-such-folder");
  await forgetLastLists(stateFolder, { definition: definition("http://127.0.0.1:1/mcp"), tenant: "default" });
});
