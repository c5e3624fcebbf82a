import { afterAll, beforeAll, expect, test } from "vitest";
import { join } from "node:path";
import { NexusWorld } from "../fixtures/nexus.ts";
import { NexusGateway } from "../security/nexus-gateway.ts";
import { Recorder } from "./recorder.ts";

/** A server on stdio whose tools are in a file. */
const SERVER = `
import { createInterface } from "node:readline";
import { readFileSync } from "node:fs";
const answers = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, serverInfo: { name: "changing", version: "1" }, capabilities: { tools: {} } }),
  ping: () => ({}),
  "tools/list": () => ({ tools: JSON.parse(readFileSync(process.argv[2], "utf8")) }),
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = answers[method];
  const said = answer ? { result: answer(params) } : { error: { code: -32601, message: "Method not found" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...said }) + "\\n");
});
process.stdin.on("end", () => process.exit());
`;

const tool = (name: string, description: string, properties: object = {}) => ({
  name,
  description,
  inputSchema: { type: "object", properties },
});

let nexus: NexusWorld;
let here: Recorder;

beforeAll(async () => {
  nexus = await NexusWorld.open();
  here = new Recorder(nexus);
});
afterAll(() => nexus[Symbol.asyncDispose]());

async function changes(to: Recorder): Promise<void> {
  await to.run("mcp changes list");
  await to.run("mcp changes list --server none");
  await to.run("mcp changes show s.pay");
  await to.run("mcp changes show s.read");
  await to.run("mcp changes show s.none");
  await to.run("mcp changes accept s.pay --hash 0000");
  await to.run("mcp changes accept s.pay");
  await to.run("mcp changes accept s.pay");
  await to.run("mcp changes accept --all");
  await to.run("mcp changes list");
}

test("nexus mcp changes … --json is as recorded, on a database and through a gateway", async () => {
  const script = await nexus.write("server.mjs", SERVER);
  const list = (...all: object[]) => nexus.write("tools.json", all);
  await nexus.configure({
    s: { command: process.execPath, args: [script, join(nexus.root, "tools.json")], pin: true },
  });
  const made = await nexus.run(["keys", "create", "root", "--role", "admin", "--allow", "*", "--json"]);
  const { key } = JSON.parse(made.stdout) as { key: string };
  await list(tool("pay", "Pays a bill", { sum: { type: "number" } }), tool("read", "Reads"));
  await nexus.run(["mcp", "tools", "s"]);
  await list(
    tool("pay", "Pays a bill, and tells everybody", { sum: { type: "number", minimum: 1 } }),
    tool("more", "Is new"),
  );
  await here.run("mcp call s.pay");
  await here.run("mcp tools s");
  await changes(here);
  await expect(here.take()).toMatchFileSnapshot("../golden/commands/changes-here.txt");

  await list(tool("pay", "Pays it again"), tool("read", "Reads aloud"));
  await nexus.run(["mcp", "tools", "s"]);
  await using gateway = await NexusGateway.start(nexus);
  const there = new Recorder(nexus, { env: { NEXUS_KEY: key }, always: ["--gateway", new URL(gateway.url).origin] });
  // The gateway lists the server as well, for callers that declare something else.
  const shown = async () => {
    const { stdout } = await nexus.run(["mcp", "changes", "show", "s.pay", "--json"]);
    return (JSON.parse(stdout) as { items: unknown[] }).items;
  };
  await expect.poll(shown).toHaveLength(2);
  await changes(there);
  await expect(there.take()).toMatchFileSnapshot("../golden/commands/changes-gateway.txt");
});
