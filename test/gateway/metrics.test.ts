import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { Gateway } from "../../src/gateway/index.ts";
import { Metrics } from "../../src/gateway/operation/metrics.ts";
import { Host } from "../../src/index.ts";
import { parseExposition, type Family } from "../fixtures/gateway/exposition.ts";
import { modern, send } from "../fixtures/gateway/wire.ts";
import { startHttpFixture } from "../fixtures/servers/http-fixture.ts";
import { stdioFixture } from "../fixtures/servers/stdio-fixture.ts";

const GAUGES = {
  shows: () => true,
  inFlight: 0,
  queued: 0,
  parked: 0,
  sessions: 0,
  streams: 0,
  bufferedBytes: 0,
  servers: [],
  traffic: undefined,
};

function valueOf(families: Map<string, Family>, name: string, labels: Record<string, string> = {}): number | undefined {
  const family = families.get(name) ?? families.get(name.replace(/_(?:count|sum|bucket)$/, ""));
  return family?.samples.find((sample) => {
    return sample.name === name && Object.entries(labels).every(([label, value]) => sample.labels[label] === value);
  })?.value;
}

test("metrics have calls by tool, time at servers, queue time, starts, restarts and retries, and all are documented", async () => {
  await using web = await startHttpFixture({ revision: "2026-07-28" });
  const servers = {
    web: { url: web.url },
    child: stdioFixture(["--revision", "2025-11-25"]),
    gone: { command: "/nowhere/server" },
  };
  const host = await Host.open({ servers, backoff: { firstMs: 1, longestMs: 1 }, processes: { processes: 16 } });
  const audit = { record: () => undefined, isClosed: false, requireReady() {}, backlog: { waiting: 0, dropped: 0 } };
  await using gateway = await Gateway.open({ host, port: 0, limits: { calls: 1 }, audit });
  await gateway.ready();
  const call = (name: string) => send(gateway.url, modern("tools/call", { name, arguments: { text: "x" } }));
  await Promise.all(Array.from({ length: 4 }, () => call("web__echo")));
  await call("child__echo");
  for (const name of ["guess-1", "guess-2"]) await call(`web__${name}`);
  const read = async () => parseExposition((await send(new URL("/metrics", gateway.url).href, { method: "GET" })).text);
  await expect
    .poll(async () => valueOf(await read(), "nexus_server_restarts_total", { server: "gone" }))
    .toBeGreaterThan(0);
  const all = await read();
  const at = (name: string, labels?: Record<string, string>) => valueOf(all, name, labels);
  const tool = { tenant: "default", server: "web" };
  expect(at("nexus_tenant_info", { tenant: "default" })).toBe(1);
  expect(at("nexus_tool_calls_total", { ...tool, tool: "echo", outcome: "ok" })).toBe(4);
  expect(at("nexus_tool_calls_total", { ...tool, tool: "other", outcome: "error" })).toBe(2);
  expect(at("nexus_tool_calls_total", { server: "child", tool: "echo", outcome: "ok" })).toBe(1);
  expect(at("nexus_tool_seconds_total", { ...tool, tool: "echo" })).toBeGreaterThan(0);
  expect(at("nexus_upstream_duration_seconds_count", { server: "web" })).toBe(6);
  expect(at("nexus_upstream_duration_seconds_sum", { server: "child" })).toBeGreaterThan(0);
  expect(at("nexus_queue_duration_seconds_count")).toBeGreaterThan(0);
  expect(at("nexus_server_starts_total", { server: "web" })).toBeGreaterThan(0);
  expect(at("nexus_server_restarts_total", { server: "web" })).toBe(0);
  expect(at("nexus_upstream_retries_total", { server: "web" })).toBe(0);
  expect(JSON.stringify([...all.values()])).not.toContain("guess");

  const guide = await readFile(new URL("../../docs/guide/observe.md", import.meta.url), "utf8");
  const documented = [...guide.matchAll(/^\| `((?:nexus|process)_\w+)`/gm)].map(([, name]) => name);
  expect(new Set(documented)).toEqual(new Set(all.keys()));
});

test("a request that was sent again is counted as a retry of its server", async () => {
  await using server = await startHttpFixture({ revision: "2025-06-18" });
  const host = await Host.open({ servers: { web: { url: server.url } } });
  await using gateway = await Gateway.open({ host, port: 0 });
  await gateway.ready();
  const call = () => send(gateway.url, modern("tools/call", { name: "web__echo", arguments: { text: "x" } }));
  await call();
  server.forgetSessions();
  expect((await call()).json.result).toMatchObject({ content: [{ text: "x" }] });
  const { text } = await send(new URL("/metrics", gateway.url).href, { method: "GET" });
  expect(valueOf(parseExposition(text), "nexus_upstream_retries_total", { server: "web" })).toBe(1);
});

test("at most 200 tools of a tenant have series of their own, and any name is written as a valid label", () => {
  const metrics = new Metrics('a"b');
  const call = (tool: string) => metrics.toolCalled({ server: "s", tool, outcome: "ok", durationMs: 1 }, () => true);
  call('odd"\\\nname');
  for (let number = 0; number < 300; number++) call(`tool-${number}`);
  for (let number = 0; number < 300; number++) call(`tool-${number}`);
  const families = parseExposition(metrics.render(GAUGES));
  const samples = families.get("nexus_tool_calls_total")?.samples ?? [];
  expect(samples).toHaveLength(201);
  expect(samples[0]).toMatchObject({ labels: { tenant: 'a"b', tool: 'odd"\\\nname' }, value: 1 });
  expect(valueOf(families, "nexus_tool_calls_total", { tool: "other" })).toBe(202);
});
