import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { request, type IncomingMessage } from "node:http";
import { createServer, type AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NexusWorld } from "../../fixtures/nexus.ts";

let world: NexusWorld;

beforeAll(async () => {
  world = await NexusWorld.open();
});

afterAll(() => world[Symbol.asyncDispose]());

interface Running {
  child: ChildProcess;
  output: { stdout: string; stderr: string };
}

async function started(...args: string[]): Promise<Running> {
  const running = world.start(["api", "fake", ...args]);
  await expect.poll(() => running.output.stdout).toMatch(/Press Ctrl-C to stop|"url"/);
  return running;
}

async function ended({ child }: Running): Promise<unknown> {
  child.kill("SIGINT");
  return child.exitCode ?? ((await once(child, "close")) as [unknown])[0];
}

test("nexus api fake tells where it is, what it takes, and a request that works; Ctrl-C ends it with 0", async () => {
  const running = await started("capcorn");
  const { stdout } = running.output;
  expect(stdout).toMatch(/^listening on http:\/\/127\.0\.0\.1:\d+\/RestService\/\n/);
  const entry: unknown = JSON.parse(/^ {2}(\{"capcorn":.*)$/m.exec(stdout)?.[1] ?? "{}");
  const upstream = /^listening on (.*)$/m.exec(stdout)?.[1];
  expect(entry).toEqual({
    capcorn: {
      api: expect.stringMatching(/capcorn\.nexus\.yaml$/),
      upstream,
      settings: { partnerCode: expect.any(String), channel: expect.any(String) },
    },
  });
  expect(stdout).toContain("  capcorn.password = demo-secret\n");
  expect(stdout).toContain("  capcorn.pin-9100 = 0000\n");
  const line = /^ {2}curl -s -X (\w+) '([^']*)' -H '([^:]+): ([^']*)' -d '([^']*)'$/m.exec(stdout) ?? [];
  const [, method = "", url = "", name = "", value = "", body = ""] = line;
  const response = await fetch(url, { method, headers: { [name]: value }, body });
  expect(response.status).toBe(200);
  expect(await response.text()).toContain("<catc>DZ</catc>");
  expect(await ended(running)).toBe(0);
});

test("--json gives all of it to a program; every request fails as --fail says", async () => {
  const running = await started("museum", "--json", "--fail", "status=503");
  const { url, port, secrets, example } = JSON.parse(running.output.stdout) as Record<string, unknown>;
  expect(url).toBe(`http://127.0.0.1:${String(port)}/v1/`);
  expect(secrets).toEqual({ token: "demo-token" });
  expect(example).toMatchObject({ tool: "find_exhibitions", method: "GET" });
  const asked = (example as { url: string }).url;
  expect((await fetch(asked)).status).toBe(503);
  expect((await fetch(asked)).status).toBe(503);
  expect(await ended(running)).toBe(0);
});

test("what cannot be faked is said", async () => {
  const unknown = await world.run(["api", "fake", "capcron"]);
  expect([unknown.code, unknown.stderr]).toEqual([3, expect.stringContaining("Did you mean capcorn?")]);
  const failure = await world.run(["api", "fake", "capcorn", "--fail", "sometimes"]);
  expect([failure.code, failure.stderr]).toEqual([2, expect.stringContaining("status=503, delay=2s, cut")]);
  const port = await world.run(["api", "fake", "capcorn", "--port", "x"]);
  expect([port.code, port.stderr]).toEqual([2, expect.stringContaining("not a port number")]);
  const file = await world.write("home/work/project/bad.nexus.yaml", "nexus: 2\n");
  const bad = await world.run(["api", "fake", file]);
  expect([bad.code, bad.stderr]).toEqual([3, expect.stringContaining("bad.nexus.yaml:1:")]);
});

test("P1.9: a port that is taken is said as the gateway says it, with exit code 3", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as AddressInfo;
  const { code, stderr } = await world.run(["api", "fake", "museum", "--port", String(port)]);
  taken.close();
  expect(code).toBe(3);
  expect(stderr).toContain(`The fake cannot listen on port ${port}: another program listens there`);
  expect(stderr).toContain("Take another port");
});

/** The status of a request with exactly these headers. */
async function statusOf(url: string, headers: Record<string, string | string[]>): Promise<number | undefined> {
  const sent = request(url, { headers }).end();
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  response.resume();
  return response.statusCode;
}

test("pages of other sites cannot use the fake: Host, Origin and Sec-Fetch-Site are checked as at the gateway", async () => {
  const running = await started("museum", "--json");
  const { port, example } = JSON.parse(running.output.stdout) as { port: number; example: { url: string } };
  const host = `127.0.0.1:${port}`;
  for (const url of [example.url, `http://${host}/__fake`]) {
    expect(await statusOf(url, { host })).toBe(200);
    expect(await statusOf(url, { host: `LOCALHOST:${port}`, origin: "http://localhost:5173" })).toBe(200);
    expect(await statusOf(url, { host, "sec-fetch-site": "none" })).toBe(200);
    const refused = [
      { host: "evil.example" },
      { host: `evil.example:${port}` },
      { host: `localhost:1:${port}` },
      { host, origin: "https://evil.example" },
      { host, origin: "null" },
      { host, "sec-fetch-site": "cross-site" },
      { host, "sec-fetch-site": "same-site" },
    ];
    for (const headers of refused) expect([headers, await statusOf(url, headers)]).toEqual([headers, 403]);
  }
  const { requests } = (await (await fetch(`http://${host}/__fake`)).json()) as { requests: unknown[] };
  expect(requests).toHaveLength(3);
  expect(await ended(running)).toBe(0);
});
