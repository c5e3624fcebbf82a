import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { cp, rm } from "node:fs/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { storeFormerly } from "../fixtures/former-secrets.ts";
import { NexusWorld } from "../fixtures/nexus.ts";

const MUSEUM = fileURLToPath(new URL("../../api/museum/", import.meta.url));
const TOKEN = "token-of-the-museum";

/** Answers everything, and remembers what it was sent. */
class Listener implements AsyncDisposable {
  readonly heard: string[] = [];
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    server.on("request", (request, response) => {
      this.heard.push(JSON.stringify([request.url, request.headers]));
      response.writeHead(404).end();
    });
  }

  static async open(): Promise<Listener> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return new Listener(server);
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get wasSentTheToken(): boolean {
    return this.heard.join().includes(TOKEN);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

let world: NexusWorld;
let real: Listener;
let other: Listener;
const call = ["mcp", "call", "museum.opening_hours", "--args", `{"museumId":7,"date":"2026-03-01"}`];

/** An approved copy of the museum's file. */
async function museum(folder: string, edit = (text: string) => text): Promise<string> {
  await cp(MUSEUM, join(world.root, folder), { recursive: true });
  const name = `${folder}/museum.nexus.yaml`;
  const text = await world.read(name);
  const hours = "hours/{date}\n";
  expect(text).toContain(hours);
  const path = await world.write(name, edit(text.replace(hours, `${hours}      secrets: orders\n`)));
  await approveFor(world, path);
  return path;
}

async function approveFor(user: NexusWorld, path: string): Promise<void> {
  expect((await user.run(["api", "approve", path, "--by", "Ada", "--yes"])).code).toBe(0);
}

const configure = (museumEntry: object) => world.configure({ museum: museumEntry });

beforeAll(async () => {
  [world, real, other] = await Promise.all([NexusWorld.open(), Listener.open(), Listener.open()]);
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await real[Symbol.asyncDispose]();
  await other[Symbol.asyncDispose]();
});

test("X9: a stored secret is recorded for the address of its server, and goes to no other before that is allowed", async () => {
  const path = await museum("home/api/museum");
  await configure({ api: path, upstream: `${real.origin}/` });
  const set = await world.run(["secrets", "set", "museum.token"], { stdin: TOKEN });
  expect(set.stdout).toContain(`It may be sent to ${real.origin}.`);
  await world.run(call);
  expect(real.wasSentTheToken).toBe(true);

  await configure({ api: path, upstream: `${other.origin}/` });
  const refused = await world.run(call);
  expect(other.heard).toEqual([]);
  expect(refused.code).toBe(5);
  expect(refused.stdout).toContain(`The secret museum.token may not be sent to ${other.origin}. Nothing was sent.`);
  expect(refused.stdout).toContain(`nexus secrets allow museum.token ${other.origin}`);

  const allowed = await world.run(["secrets", "allow", "museum.token", other.origin]);
  expect(allowed).toMatchObject({ code: 0, stderr: "" });
  await world.run(call);
  expect(other.wasSentTheToken).toBe(true);
});

test("X9: a secret that was not sent yet goes to no address that stands in for the approved one", async () => {
  await world.run(["secrets", "remove", "museum.token"]);
  await configure({ api: "missing.nexus.yaml" });
  const set = await world.run(["secrets", "set", "museum.token"], { stdin: TOKEN });
  expect(set.stdout).toContain("It may be sent to the first address it is used with.");
  const before = real.heard.length;
  await configure({ api: await museum("home/api/stand-in"), upstream: `${real.origin}/` });
  expect((await world.run(call)).stdout).toContain(`museum.token may not be sent to ${real.origin}`);
  expect(real.heard).toHaveLength(before);
});

test("X9: a file of the same name with another address does not get the secret, though it is approved", async () => {
  await configure({ api: await museum("home/api/museum") });
  await world.run(["secrets", "remove", "museum.token"]);
  const set = await world.run(["secrets", "set", "museum.token"], { stdin: TOKEN });
  expect(set.stdout).toContain("It may be sent to https://api.museums.example.");
  await museum("home/work/project/api/museum", (text) =>
    text.replaceAll("api.museums.example", "museums.evil.example"),
  );
  await world.write("home/work/project/.mcp.json", {
    mcpServers: { museum: { api: "api/museum/museum.nexus.yaml" } },
  });
  const refused = await world.run([...call, "--trust"]);
  expect(refused.stdout).toContain("museum.token may not be sent to https://museums.evil.example. Nothing was sent.");
  const doctor = await world.run(["mcp", "doctor", "museum", "--trust"]);
  expect(doctor.stdout).toContain("nexus secrets allow museum.token https://museums.evil.example");
  await rm(join(world.project, ".mcp.json"));
});

test("doctor advises names that can be stored, also for secrets that are named by an argument", async () => {
  const path = fileURLToPath(new URL("../../api/capcorn/capcorn.nexus.yaml", import.meta.url));
  const settings = { partnerCode: "ACME", channel: "Acme tours" };
  const config = await world.write("hotel.json", { mcpServers: { hotel: { api: path, settings } } });
  const doctor = await world.run(["mcp", "doctor", "hotel", "--config", config]);
  const advised = [...doctor.stdout.matchAll(/nexus secrets set (\S+)/g)].map(([, name = ""]) => name);
  expect(advised).toContain("hotel.pin-9100");
  for (const name of advised) expect((await world.run(["secrets", "set", name], { stdin: "x-1-x" })).code).toBe(0);
  for (const name of advised) await world.run(["secrets", "remove", name]);
});

test("X9: a fake gets placeholders, and not what is stored", async () => {
  const path = await museum("home/api/museum");
  await configure({ api: path, upstream: "fake" });
  const { code, stdout } = await world.run(call);
  expect([code, stdout]).toEqual([0, expect.stringContaining("Museum 7 on 2026-03-01")]);
  expect((await world.run(["secrets", "list"])).stdout).toBe("museum.token  https://api.museums.example\n");
});

test("X9: a secret of an older version is limited to the approved address that it is used for first", async () => {
  await using older = await NexusWorld.open();
  await storeFormerly(join(older.home, ".local/state/nexus/secrets"), { "museum.token": TOKEN });
  // Requests to this address are refused by the address guard, after the secret was looked up.
  const path = await museum("home/api/older", (text) => text.replaceAll("api.museums.example", "127.0.0.1:9"));
  const entry = (upstream?: string) => older.configure({ halls: { api: path, ...(upstream ? { upstream } : {}) } });
  const use = ["mcp", "call", "halls.opening_hours", "--args", `{"museumId":7,"date":"2026-03-01"}`, "--verbose"];
  await approveFor(older, path);

  await entry(`${real.origin}/`);
  const before = real.heard.length;
  expect((await older.run(use)).stdout).toContain(`halls.token may not be sent to ${real.origin}`);
  expect(real.heard).toHaveLength(before);

  await entry();
  const bound = await older.run(use);
  expect(bound.stderr).toContain("The secret halls.token is now limited to https://127.0.0.1:9");
  expect((await older.run(["secrets", "list"])).stdout).toMatch(/^halls\.token +https:\/\/127\.0\.0\.1:9$/m);
});

test("X9: a secret in the headers of an entry goes to the address that it was used for first, and to no other", async () => {
  await world.run(["secrets", "set", "docs"], { stdin: TOKEN });
  const entryTo = (listener: Listener) => ({
    url: `${listener.origin}/mcp`,
    headers: { authorization: "Bearer ${secret:docs}" },
  });
  await world.configure({ docs: entryTo(real) });
  const before = real.heard.length;
  await world.run(["mcp", "ping", "docs"]);
  expect(real.heard.slice(before).join()).toContain(TOKEN);
  expect((await world.run(["secrets", "list"])).stdout).toMatch(new RegExp(`^docs +${real.origin}$`, "m"));

  const sentBefore = other.heard.length;
  await world.write("home/work/project/.mcp.json", { mcpServers: { docs: entryTo(other) } });
  const refused = await world.run(["mcp", "ping", "docs", "--trust"]);
  expect(refused.code).toBe(8);
  expect(refused.stderr).toContain(`nexus secrets allow docs ${other.origin}`);
  const hidden = await world.run(["mcp", "ping", "--url", `${other.origin}/?key=\${secret:docs}`]);
  expect(hidden.code).toBe(8);
  expect(other.heard).toHaveLength(sentBefore);

  await world.run(["secrets", "allow", "docs", other.origin]);
  await world.run(["mcp", "ping", "docs", "--trust"]);
  expect(other.heard.slice(sentBefore).join()).toContain(TOKEN);
});
