import { afterAll, beforeAll, expect, test } from "vitest";
import { connect } from "../../src/index.ts";
import { ApiWorld, type Endpoint } from "./api-world.ts";
import { CALLERS } from "./callers.ts";
import { booking, STAY } from "./capcorn/capcorn-stay.ts";

const SECRETS = { user: "partner", password: "grün & spitz/7", system: "21", "pin-9100": "k-81-k" };
const ENDPOINTS: Endpoint[] = ["/mcp", "/servers/<id>/mcp"];

let world: ApiWorld;
beforeAll(async () => {
  const edit = (text: string) =>
    text.replace("    input: RoomQuery", "    limits: { result: 1kB }\n    input: RoomQuery");
  world = await ApiWorld.open({ api: "capcorn", secrets: SECRETS, edit });
});
afterAll(() => world?.[Symbol.asyncDispose]());

test.each(CALLERS.flatMap((kind) => ENDPOINTS.map((endpoint) => ({ kind, endpoint }))))(
  "X5: $kind at $endpoint gets an excerpt, and the whole by its link",
  async ({ kind, endpoint }) => {
    const caller = await world.caller(kind, endpoint, () => ({ action: "decline" }));
    const result = await caller.call("availability_search", STAY);
    const { uri = "" } = result.content.find(({ type }) => type === "resource_link") ?? {};
    expect(uri).toMatch(/result:\/\/capcorn\//);
    const whole: unknown = JSON.parse(await caller.read(uri.replace(/^capcorn\+/, "")));
    expect(whole).toMatchObject({ count: 4 });
  },
);

test.each(ENDPOINTS)(
  "who calls is not the caller's to say at %s: the same booking is the same one",
  async (endpoint) => {
    const url = new URL(endpoint.replace("<id>", "capcorn"), world.url).href;
    const name = endpoint === "/mcp" ? "capcorn__create_reservation" : "create_reservation";
    const mine = booking({ reference: endpoint });
    const before = world.sent("create_reservation");
    for (const era of ["modern", "legacy"] as const) {
      await using client = await connect({ url }, { era });
      for (const caller of [undefined, "local", "default/somebody", "default/anybody"]) {
        const _meta = caller === undefined ? {} : { "dev.nexus/caller": caller };
        await client.request("tools/call", { name, arguments: mine, _meta });
      }
    }
    expect(world.sent("create_reservation")).toBe(before + 1);
  },
);
