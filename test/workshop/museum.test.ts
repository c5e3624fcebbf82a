import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CallToolResult } from "../../src/protocol/mcp.ts";
import { ApiWorld } from "./api-world.ts";
import { CALLERS, type Caller } from "./callers.ts";

const SECRETS = { token: "salt-and-silver-7" };

let world: ApiWorld;
beforeAll(async () => {
  world = await ApiWorld.open({ api: "museum", secrets: SECRETS });
});
afterAll(async () => {
  expect(`${world.output.stdout}${world.output.stderr}`).not.toContain(SECRETS.token);
  await world?.[Symbol.asyncDispose]();
});

const TICKETS = {
  museumId: 7,
  exhibitionId: "kelten-2026",
  date: "2026-05-02",
  adults: 2,
  reduced: 1,
  contact: { name: "A. Gäst", email: "guest@example.com" },
};

function textOf({ content: [first] }: CallToolResult): string {
  return String((first as { text?: unknown } | undefined)?.text);
}

describe.each(CALLERS)("a JSON API, called by %s", (kind) => {
  let caller: Caller;
  beforeAll(async () => {
    caller = await world.caller(kind, kind.startsWith("SDK") ? "/mcp" : "/servers/<id>/mcp");
  });

  test("X2: has its tools, each with what it does to the world", async () => {
    const tools = await caller.tools();
    const hints = tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint, annotations?.destructiveHint]);
    expect(hints).toEqual([
      ["cancel_order", false, true],
      ["find_exhibitions", true, undefined],
      ["opening_hours", true, undefined],
      ["order_tickets", false, false],
    ]);
  });

  test("X6: parameters stand in query, path and headers, and the answer has friendly names", async () => {
    const found = await caller.call("find_exhibitions", {
      on: "2026-05-02",
      tags: ["salt", "a&b"],
      museums: [7, 8],
      language: "german",
    });
    expect(found.structuredContent).toMatchObject({
      exhibitions: [{ id: "kelten-2026", museumId: 7, from: "2026-03-01", tags: ["history", "salt"], adultPrice: 12 }],
    });
    expect(world.fake.requests.at(-1)).toMatchObject({
      method: "GET",
      address: "/v1/exhibitions?on=2026-05-02&tag=salt&tag=a%26b&museum=7%2C8&page=1",
      input: { language: "german" },
      body: "",
    });
    const hours = await caller.call("opening_hours", { museumId: 7, date: "2026-05-02" });
    expect(hours.structuredContent).toMatchObject({ isOpen: true, open: "10:00", lastEntry: "17:15" });
    expect(world.fake.requests.at(-1)).toMatchObject({ address: "/v1/museums/7/hours/2026-05-02" });
  });

  test("X8: an order carries a token and a key that nobody sees, and is made once", async () => {
    const before = world.sent("order_tickets");
    const mine = { ...TICKETS, contact: { ...TICKETS.contact, name: kind } };
    const first = await caller.call("order_tickets", mine);
    expect(first.structuredContent).toMatchObject({ orderId: "T-1001", total: 30.5 });
    const request = world.fake.requests.at(-1);
    expect(request?.input).toMatchObject({ orderKey: expect.stringMatching(/^[A-Za-z0-9]{16,}$/) as unknown });
    expect(JSON.parse(request?.body ?? "")).toEqual({
      exhibition: "kelten-2026",
      date: "2026-05-02",
      visitors: { adult: 2, reduced: 1 },
      contact: { name: kind, mail: "guest@example.com" },
    });
    expect(textOf(await caller.call("order_tickets", mine))).toMatch(/^This was already done at /);
    expect(world.sent("order_tickets")).toBe(before + 1);
  });

  test("X3: what breaks a rule is refused before anything is sent, what the museum refuses is told", async () => {
    const before = world.fake.requests.length;
    const crowd = await caller.call("order_tickets", { ...TICKETS, adults: 7, reduced: 6 });
    expect(crowd.isError).toBe(true);
    expect(textOf(crowd)).toContain("at most 12 visitors");
    expect(world.fake.requests.length).toBe(before);
    const soldOut = await caller.call("order_tickets", { ...TICKETS, date: "2026-05-01" });
    expect(textOf(soldOut)).toContain("Sold out: No tickets are left for 2026-05-01");
    expect(textOf(await caller.call("opening_hours", { museumId: 99, date: "2026-05-02" }))).toContain(
      "There is no museum 99.",
    );
    expect(textOf(await caller.call("cancel_order", { orderId: "T-1001" }))).toBe("Order T-1001 is cancelled.");
    expect(textOf(await caller.call("cancel_order", { orderId: "T-9" }))).toContain("There is no order T-9.");
  });
});
