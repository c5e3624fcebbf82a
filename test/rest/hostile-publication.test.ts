import { join } from "node:path";
import { expect, test } from "vitest";
import { NexusWorld } from "../fixtures/nexus.ts";
import { NexusGateway } from "../security/nexus-gateway.ts";
import { approvedFile } from "./contract-examples.ts";

/** Says on stderr when a thread starts and when it has ended. */
const TELL = `import { syncBuiltinESMExports } from "node:module"; import threads from "node:worker_threads";
  threads.Worker = class extends threads.Worker { constructor(...given) { super(...given);
    process.stderr.write("[thread started]");
    this.once("exit", () => process.stderr.write("[thread ended]")); } };
  syncBuiltinESMExports();`;
const SOON = { timeout: 30_000, interval: 10 };

/** Takes longer to be read than is allowed. */
function endlessFile(): string {
  const types = Array.from({ length: 150_000 }, (_, at) => `  T${at}: { fields: { a: string } }\n`);
  return approvedFile("endless").text.replace("types:\n", () => `types:\n${types.join("")}`);
}

test("a publication is compiled in a thread that ends when its client leaves, and others are answered meanwhile (X15)", async () => {
  await using nexus = await NexusWorld.open();
  await nexus.configure({});
  const database = ["--database", `file:${join(nexus.root, "nexus.db")}`];
  const words = ["keys", "create", "admin", "--role", "admin", "--allow", "*", "--json"];
  const { key } = JSON.parse((await nexus.run([...words, ...database])).stdout) as { key: string };
  const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(TELL)}` };
  await using gateway = await NexusGateway.start(nexus, database, { env });
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const publish = (body: object, signal?: AbortSignal) => {
    const init = { method: "POST", headers, body: JSON.stringify(body), ...(signal ? { signal } : {}) };
    return fetch(gateway.at("/api/v1/tenants/default/apis"), init);
  };
  const leaves = new AbortController();
  const left = publish({ ...approvedFile("endless"), text: endlessFile() }, leaves.signal).catch(() => "left");
  await expect.poll(() => gateway.output.stderr, SOON).toContain("[thread started]");
  expect((await fetch(gateway.at("/healthz"))).status).toBe(200);
  expect(gateway.output.stderr).not.toContain("[thread ended]");
  leaves.abort();
  expect(await left).toBe("left");
  await expect.poll(() => gateway.output.stderr, SOON).toContain("[thread ended]");
  expect((await publish(approvedFile("small"))).status).toBe(201);
}, 60_000);
