import { expect, test } from "vitest";
import type { HostEvent, Logger } from "../../src/index.ts";
import { oddServer } from "./odd-server.ts";
import { HostWorld, stateOf, toolNames, until } from "./world.ts";

test.each([true, false])("what changes while the lists are first read is not lost (modern: %s)", async (modern) => {
  await using world = await HostWorld.open();
  await using host = await world.host({ odd: oddServer({ modern, tools: "change-during-first", prompts: "late" }) });
  await host.ready();
  await expect.poll(() => toolNames(host)).toEqual(["echo", "late"]);
});

test("of two changes in quick succession the later one counts, whichever list arrives last", async () => {
  await using world = await HostWorld.open();
  await using host = await world.host({ odd: oddServer({ tools: "second-is-late" }) });
  await host.ready();
  let readings = 0;
  host.on(({ kind }) => kind === "lists" && readings++);
  await host.callTool("odd.echo", { change: 2 });
  await expect.poll(() => readings).toBe(2);
  expect(toolNames(host)).toEqual(["echo", "added-1", "added-2"]);
});

test("what changed while the stream of changes was away is read, whatever the server said of its freshness", async () => {
  await using world = await HostWorld.open();
  await using host = await world.host({ odd: oddServer({ modern: true, endsStream: true, ttlMs: 3_600_000 }) });
  await host.ready();
  await expect.poll(() => toolNames(host)).toEqual(["echo", "while-away"]);
});

test("fail_if_no_tools looks at tools alone: broken prompts degrade a server, and no more (P2.1)", async () => {
  await using world = await HostWorld.open();
  await using host = await world.host({ odd: oddServer({ prompts: "fail" }, { fail_if_no_tools: true }) });
  await host.ready();
  expect(stateOf(host, "odd")).toMatchObject({ kind: "degraded", error: { message: "prompts are broken" } });
  expect(toolNames(host)).toEqual(["echo"]);
});

test.each([
  { resources: "list-only", uris: ["odd:///a"], templates: [] },
  { resources: "templates-only", uris: [], templates: ["odd:///{x}"] },
  { resources: "no-method", uris: [], templates: [] },
] as const)("a server that declares resources and has no method for a list is ready: $resources (G1)", async (one) => {
  await using world = await HostWorld.open();
  await using host = await world.host({ odd: oddServer({ resources: one.resources }) });
  await host.ready();
  expect(stateOf(host, "odd")).toMatchObject({ kind: "ready" });
  expect(host.resources().map(({ resource }) => resource.uri)).toEqual(one.uris);
  expect(host.templates().map(({ template }) => template.uriTemplate)).toEqual(one.templates);
});

test("a degraded server is ready again by itself once its list can be read (P2.1)", async () => {
  await using world = await HostWorld.open();
  await using host = await world.host({ odd: oddServer({ tools: "fail-first" }) });
  const seen: string[] = [];
  host.on((event) => event.kind === "state" && seen.push(event.state.kind));
  await host.ready();
  await until(host, "odd", "ready");
  expect(seen.slice(-2)).toEqual(["degraded", "ready"]);
  expect(toolNames(host)).toEqual(["echo"]);
});

test("of two tools with one name the first is used, with a warning, and can be called", async () => {
  await using world = await HostWorld.open();
  const warnings: string[] = [];
  const logger: Logger = { debug() {}, info() {}, warn: (message) => void warnings.push(message), error() {} };
  await using host = await world.host({ odd: oddServer({ tools: "twice" }) }, { logger });
  await host.ready();
  expect(toolNames(host)).toEqual(["echo"]);
  expect(await host.callTool("odd.echo")).toMatchObject({ content: [{ type: "text" }] });
  expect(warnings).toContainEqual(expect.stringContaining(`two tools "echo"`));
});

test("lists are said to have changed when a server goes, or its tools are denied (G4)", async () => {
  await using world = await HostWorld.open();
  await using host = await world.host({ stays: oddServer(), goes: oddServer() });
  await host.ready();
  const events: HostEvent[] = [];
  host.on((event) => events.push(event));
  await host.setServers({ stays: oddServer({}, { tools: { deny: ["*"] } }) });
  expect(toolNames(host)).toEqual([]);
  expect(events).toContainEqual({ kind: "lists", server: "stays" });
  expect(events).toContainEqual({ kind: "lists", server: "goes" });
});
