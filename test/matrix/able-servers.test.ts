import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Params } from "../../src/protocol/json-rpc.ts";
import { META } from "../../src/protocol/meta.ts";
import { ScriptedServer } from "../../src/testing/index.ts";
import { AbleServer, toolsFor } from "../gateway/able-server.ts";
import { AbleHttpServer } from "./able-http-server.ts";
import { CLIENTS, unreachable, type ClientKind, type Endpoint } from "./definition.ts";
import { Answers, capabilitiesOf, type Party } from "./party.ts";
import { MatrixWorld, SERVER } from "./world.ts";

/** The endpoint of all servers, as each client reaches it. */
function endpointOf(client: ClientKind): Endpoint {
  return unreachable(client, "/mcp") === undefined ? "/mcp" : "/sse";
}

async function toolsOf(party: Party): Promise<string[]> {
  const { tools } = await party.call("tools/list", {});
  return (tools as { name: string }[]).map(({ name }) => name);
}

/** Tells in its answer which tool it was. */
const call = (party: Party, tool: string) => party.call("tools/call", { name: `${SERVER}__${tool}`, arguments: {} });

const ASKED = ["elicitation", "roots", "sampling"];

describe.each(["legacy pipe", "legacy HTTP", "modern"])(
  "at /mcp in front of a %s server with lists for able clients",
  (kind) => {
    let http: AbleHttpServer | undefined;
    let world: MatrixWorld;

    beforeAll(async () => {
      if (kind === "legacy HTTP") http = await AbleHttpServer.open();
      world = await MatrixWorld.inFrontOf(http ? { url: http.url, type: "http" } : inMemory(kind));
    });
    afterAll(async () => {
      await world?.[Symbol.asyncDispose]();
      await http?.[Symbol.asyncDispose]();
    });

    test.each(CLIENTS)("a client of $name is listed what it declares, and can call it (B1, X1)", async (client) => {
      await using party = await world.open(client, endpointOf(client), new Answers());
      const opened = ASKED.filter((name) => capabilitiesOf(client.revision)[name] !== undefined);
      const expected = ["plain", ...opened].map((name) => `${SERVER}__${name}`);
      await expect.poll(() => toolsOf(party)).toEqual(expect.arrayContaining(expected));
      const closed = ASKED.filter((name) => !opened.includes(name)).map((name) => `${SERVER}__${name}`);
      expect((await toolsOf(party)).filter((name) => closed.includes(name))).toEqual([]);
      for (const tool of ["plain", ...opened])
        expect(await call(party, tool)).toMatchObject({ content: [{ text: tool }] });
    });
  },
);

describe("at /mcp in front of a server that was restarted and answers an unknown session with 400", () => {
  let server: AbleHttpServer;
  let world: MatrixWorld;

  beforeAll(async () => {
    server = await AbleHttpServer.open();
    world = await MatrixWorld.inFrontOf({ url: server.url, type: "http" });
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
    await server?.[Symbol.asyncDispose]();
  });

  test.each(CLIENTS)("a client of $name goes on (B1, X3)", async (client) => {
    await using party = await world.open(client, endpointOf(client), new Answers());
    expect(await toolsOf(party)).toContain(`${SERVER}__plain`);
    expect(await call(party, "plain")).toMatchObject({ content: [{ text: "plain" }] });
    const before = server.opened;
    server.forgetSessions();
    expect(await call(party, "plain")).toMatchObject({ content: [{ text: "plain" }] });
    expect(await toolsOf(party)).toContain(`${SERVER}__plain`);
    expect(server.opened).toBeGreaterThan(before);
  });
});

function inMemory(kind: string) {
  if (kind !== "modern") return new AbleServer().transport;
  return new ScriptedServer({ era: "modern", tools: {} })
    .on("tools/list", ({ _meta: meta }) => ({ tools: toolsFor((meta as Params)[META.clientCapabilities] as Params) }))
    .on("tools/call", ({ name }) => ({ content: [{ type: "text", text: String(name) }] })).transport;
}
