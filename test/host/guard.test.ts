import { expect, test } from "vitest";
import { failure } from "../fixtures/failure.ts";
import { oddServer } from "./odd-server.ts";
import { HostWorld } from "./world.ts";

test("a call by an agent that may not see a server does not start it (R8)", async () => {
  await using world = await HostWorld.open();
  const hidden = oddServer({ spawnLog: world.path("pids") }, { auto_start: false });
  await using host = await world.host({ hidden }, { policy: { visibleTo: { hidden: ["boss"] } } });
  for (const attempt of [
    host.callTool("hidden.echo", {}, { agent: "guest" }),
    host.callTool("mcp__hidden__echo", {}, { agent: "guest" }),
    host.getTool("hidden.echo"),
    host.getPrompt("hidden.x", {}, { agent: "guest" }),
    host.readResource("hidden", "a:b", { agent: "guest" }),
  ]) {
    expect(await failure(attempt)).toMatchObject({ code: "DENIED" });
  }
  expect(await world.pids("pids")).toEqual([]);
  expect(await host.getTool("hidden.echo", { agent: "boss" })).toMatchObject({ name: "mcp__hidden__echo" });
});

test("aborting a call takes back the question for consent (G6)", async () => {
  await using world = await HostWorld.open();
  const abort = new AbortController();
  let signal: AbortSignal | undefined;
  const consent = (request: { signal: AbortSignal | undefined }) => {
    ({ signal } = request);
    setImmediate(() => abort.abort());
    return new Promise<boolean>(() => {});
  };
  await using host = await world.host({ odd: oddServer() }, { policy: { consent } });
  await host.ready();
  expect(await failure(host.callTool("odd.echo", {}, { signal: abort.signal }))).toMatchObject({ code: "CANCELLED" });
  expect(signal?.aborted).toBe(true);
});
