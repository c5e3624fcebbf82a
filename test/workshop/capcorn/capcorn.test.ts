import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CallToolResult } from "../../../src/protocol/mcp.ts";
import { canonicalXml } from "../../fixtures/workshop/canonical-xml.ts";
import { manualOf, printedXml } from "../../fixtures/workshop/example.ts";
import { ApiWorld, type Endpoint } from "../api-world.ts";
import { CALLERS, type Caller } from "../callers.ts";
import { booking, HAS_FACTS, OPTIONS, optionsByFacts, STAY } from "./capcorn-stay.ts";

const SECRETS = { user: "partner", password: "grün & spitz/7", system: "21", "pin-9100": "k-81-k" };
const ENDPOINTS: Endpoint[] = ["/mcp", "/servers/<id>/mcp"];
const EVERY = CALLERS.flatMap((kind) => ENDPOINTS.map((endpoint) => ({ kind, endpoint })));

let world: ApiWorld;
beforeAll(async () => {
  world = await ApiWorld.open({ api: "capcorn", secrets: SECRETS });
});
afterAll(() => world?.[Symbol.asyncDispose]());

interface Found {
  count: number;
  nights: number;
  currency: string;
  hotels: { hotelId: number; rooms: { adults: number; childAges: number[]; options: Record<string, unknown>[] }[] }[];
}

async function search(caller: Caller, changes: object = {}): Promise<Found> {
  const { structuredContent, isError } = await caller.call("availability_search", { ...STAY, ...changes });
  expect(isError).not.toBe(true);
  return structuredContent as unknown as Found;
}

function keysOf({ hotels }: Found): string[] {
  const options = hotels.flatMap(({ rooms }) => rooms.flatMap((room) => room.options));
  return options.map(({ categoryCode, board }) => `${String(categoryCode)} ${String(board)}`);
}

function idOf({ structuredContent }: CallToolResult): unknown {
  return (structuredContent as { reservationId?: unknown } | undefined)?.reservationId;
}

describe.each(EVERY)("$kind, at $endpoint", ({ kind, endpoint }) => {
  let caller: Caller;
  beforeAll(async () => {
    caller = await world.caller(kind, endpoint);
    // Clients that check results against output schemas know them from here on.
    const tools = await caller.tools();
    expect(tools.map(({ name }) => name)).toEqual(["availability_search", "create_reservation"]);
  });

  test("X15: the documented search gives the documented options, with friendly names", async () => {
    const result = await caller.call("availability_search", STAY);
    expect(result.content[0]).toMatchObject({ text: "Found 4 options from 2025-12-17 to 2025-12-20." });
    const { count, nights, currency, hotels } = result.structuredContent as unknown as Found;
    expect({ count, nights, currency }).toEqual({ count: 4, nights: 3, currency: "EUR" });
    expect(hotels.map(({ hotelId }) => hotelId)).toEqual([9100]);
    const [hotel] = hotels;
    expect(hotel?.rooms.map(({ adults, childAges }) => [adults, childAges])).toEqual([
      [2, [3]],
      [2, []],
    ]);
    expect(hotel?.rooms.map(({ options }) => options)).toEqual(OPTIONS);
  });

  test("X6: two boards stay two options, one is still a list, none an empty list", async () => {
    const rooms = [{ adults: 2 }];
    const two = await search(caller, { arrival: "2025-11-21", departure: "2025-11-23", rooms });
    expect(keysOf(two)).toEqual(["DZ-S half_board", "DZ-S breakfast", "DZ-D half_board", "DZ-D breakfast"]);
    const one = await search(caller, { arrival: "2026-02-02", departure: "2026-02-05", rooms });
    expect(keysOf(one)).toEqual(["APP no_meals"]);
    expect(one.hotels[0]?.rooms[0]?.options[0]).toMatchObject({
      name: "Ferienwohnung für 2 Personen",
      description: "Appartement 45 m² mit Küche, Bad & Südterrasse",
      roomType: "apartment",
    });
    // A hotel without options, and no hotel at all.
    const full = await search(caller, { arrival: "2025-12-31", departure: "2026-01-02", rooms });
    expect(full).toMatchObject({ count: 0, hotels: [{ hotelId: 9100, rooms: [{ options: [] }] }] });
    expect(await search(caller, { hotelIds: [1] })).toMatchObject({ count: 0, hotels: [] });
  });

  test("X15: a booking is made once; the same again is recognised, and another reference is another booking", async () => {
    const mine = booking({ reference: `${kind} ${endpoint}` });
    const before = world.sent("create_reservation");
    const first = await caller.call("create_reservation", mine);
    expect(first.structuredContent).toMatchObject({ roomTotal: 675, guestPays: 840, currency: "EUR" });
    const id = idOf(first);
    expect(first.content[0]).toMatchObject({
      text: `Booked 1 × DZ from 2025-12-17 to 2025-12-20; booking id ${String(id)}.`,
    });
    const again = await caller.call("create_reservation", mine);
    expect(again.structuredContent).toEqual(first.structuredContent);
    expect(again.content[0]).toMatchObject({ text: expect.stringMatching(/^This was already done at /) as unknown });
    expect(world.sent("create_reservation")).toBe(before + 1);

    const other = await caller.call("create_reservation", { ...mine, reference: `${kind} ${endpoint}, once more` });
    expect(idOf(other)).not.toBe(id);
    expect(world.sent("create_reservation")).toBe(before + 2);
  });

  test("a price that changed since the search is booked only where it is confirmed", async () => {
    const asked: string[] = [];
    const answering = (action: "accept" | "decline") =>
      world.caller(kind, endpoint, ({ message }) => {
        asked.push(String(message));
        return action === "accept" ? { action, content: { confirm: true } } : { action };
      });
    const dearer = booking({ expectedTotal: 600, reference: `${kind} ${endpoint}, dearer` });
    const before = world.sent("create_reservation");

    const unasked = await caller.call("create_reservation", dearer);
    expect(unasked).toMatchObject({ isError: true });
    expect(JSON.stringify(unasked.content)).toContain(`call again with \\"expectedTotal\\": 675`);

    const declined = await (await answering("decline")).call("create_reservation", dearer);
    expect(declined).toMatchObject({
      isError: true,
      content: [{ text: "It was declined. Nothing was changed: only availability_search was sent." }],
    });
    expect(world.sent("create_reservation")).toBe(before);

    const accepted = await (await answering("accept")).call("create_reservation", dearer);
    expect(accepted.structuredContent).toMatchObject({ roomTotal: 675 });
    expect(world.sent("create_reservation")).toBe(before + 1);
    expect(world.fake.requests.at(-1)?.body).toContain(`AmountAfterTax="675.00"`);
    const question = "DZ with breakfast now costs 675 EUR for the stay, not 600 EUR. Book for 675 EUR?";
    expect(asked).toEqual([question, question]);
  });

  test("X13: the manual can be read as a whole, by chapter and by line, and does not flood lists", async () => {
    const resources = await caller.resources();
    expect(resources.map(({ title }) => title)).toEqual([
      "CapCorn integration guide",
      "1. Overview",
      "2. Authentication",
      "3. RoomAvailability",
      "4. Code tables",
      "5. OTA_HotelResNotifRQ (booking)",
      "6. Errors",
      "7. Notes and pitfalls",
    ]);
    expect(await caller.read("doc://capcorn/manual")).toContain("# CapCorn Hotel API");
    const [, line] = (await manualOf("capcorn")).split("\n").slice(117, 119);
    expect(await caller.read("doc://capcorn/manual/L119")).toBe(line);
  });
});

describe("whoever calls", () => {
  let caller: Caller;
  beforeAll(async () => {
    caller = await world.caller("ours, modern");
  });

  test.runIf(HAS_FACTS)("the options are those of the collected facts", async () => {
    const codes = { board: { 1: "breakfast" }, roomType: { 1: "hotel_room" } };
    const friendly = (option: Record<string, unknown>) => ({
      ...option,
      board: codes.board[option["board"] as 1],
      roomType: codes.roomType[option["roomType"] as 1],
    });
    const facts = await optionsByFacts();
    expect(facts.map((options) => options.map(friendly))).toEqual(OPTIONS);
  });

  test("X6, X8: the upstream gets the printed documents, and the credentials that each call needs", async () => {
    const printed = await printedXml("capcorn");
    await caller.call("availability_search", STAY);
    const searched = world.fake.requests.at(-1);
    expect(canonicalXml(searched?.body ?? "")).toEqual(canonicalXml(printed[0] ?? ""));
    expect(searched?.address).toBe("/RestService/RoomAvailability?user=partner&password=***&system=21");
    await caller.call("create_reservation", booking({ reference: "printed" }));
    const booked = world.fake.requests.at(-1);
    expect(booked?.address).toBe("/RestService/OTA_HotelResNotifRQ?hotelId=9100&pin=***");
    const differing = /(CreateDateTime|ResID_Value)="[^"]*"/g;
    expect(canonicalXml((booked?.body ?? "").replaceAll(differing, `$1=""`))).toEqual(
      canonicalXml((printed[6] ?? "").replaceAll(differing, `$1=""`)),
    );
  });

  test("two callers who book the same at once book once, and both get its id", async () => {
    const before = world.sent("create_reservation");
    const callers = [caller, await world.caller("SDK 1.x, legacy", "/servers/<id>/mcp")];
    const same = booking({ reference: "at once" });
    const results = await Promise.all(callers.map((one) => one.call("create_reservation", same)));
    const ids = results.map(idOf);
    expect(ids[0]).toEqual(expect.any(String));
    expect(ids[1]).toBe(ids[0]);
    expect(world.sent("create_reservation")).toBe(before + 1);
  });

  test("X15: two rooms cost twice as much, extras are not part of their price", async () => {
    const two = { adults: 2, children: [], units: 2, expectedTotal: 1088, extras: [] };
    const { structuredContent } = await caller.call("create_reservation", booking(two));
    expect(structuredContent).toMatchObject({ roomTotal: 1088, guestPays: 1088 });
    expect(world.fake.requests.at(-1)?.body).toContain(`AmountAfterTax="1088.00"`);
  });

  test("a price that changed in between is found by a fresh search", async () => {
    const offers = world.file.fake.tables["offers"] as { people: number; code: string; perNight: number }[];
    const offer = offers.find(({ people, code }) => people === 3 && code === "DZ");
    if (!offer) throw new Error("no such offer");
    await search(caller);
    offer.perNight = 230;
    const result = await caller.call("create_reservation", booking({ reference: "in between" }));
    offer.perNight = 225;
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result.content)).toContain("now costs 690 EUR for the stay, not 675 EUR");
  });

  const guests = (adults: number, ...childAges: number[]) => ({ rooms: [{ adults, childAges }] });
  const ages = (length: number) => Array.from({ length }, () => 5);
  const rooms = (length: number) => ({ rooms: Array.from({ length }, () => ({ adults: 1 })) });

  test.each([
    ["a language it does not have", { language: "french" }, "language"],
    ["no hotel", { hotelIds: [] }, "hotelIds"],
    ["a hotel that is no number", { hotelIds: ["9100; drop"] }, "hotelIds"],
    ["a date in other words", { arrival: "17.12.2025" }, "arrival"],
    ["a day that there is not", { arrival: "2025-02-30" }, "arrival"],
    ["leaving on the day of arrival", { departure: STAY.arrival }, "departure must be after arrival"],
    ["leaving before it", { departure: "2025-12-16" }, "departure must be after arrival"],
    ["no room", { rooms: [] }, "rooms"],
    ["eleven rooms", rooms(11), "rooms"],
    ["nobody grown up", guests(0), "adults"],
    ["sixteen people", guests(16), "adults"],
    ["sixteen people, children included", guests(8, ...ages(8)), "at most 15 people"],
    ["nine children", guests(2, ...ages(9)), "childAges"],
    ["a child of no years", guests(2, 0), "childAges"],
    ["a child of eighteen", guests(2, 18), "childAges"],
    ["a child of three and a half", guests(2, 3.5), "childAges"],
    ["something unknown", { pets: 1 }, "pets"],
    ["something unknown inside", { rooms: [{ adults: 2, pets: 1 }] }, "pets"],
  ])("X3: %s is refused before anything is sent", async (_, changes, named) => {
    const before = world.fake.requests.length;
    const result = await caller.call("availability_search", { ...STAY, ...changes });
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result.content)).toContain(named);
    expect(world.fake.requests.length).toBe(before);
  });

  test.each([
    ["a category of nine characters", { categoryCode: "DZ-SUPER1" }, "categoryCode"],
    ["a board it does not have", { board: "brunch" }, "board"],
    ["a comment of 201 characters", { comment: "x".repeat(201) }, "comment"],
    ["a country of three letters", { guest: { country: "AUT" } }, "country"],
    ["half a room", { units: 0.5 }, "units"],
    ["no room", { units: 0 }, "units"],
    ["less than nothing to pay", { expectedTotal: -1 }, "expectedTotal"],
    [
      "nine children of two ages",
      {
        children: [
          { age: 3, count: 5 },
          { age: 4, count: 4 },
        ],
      },
      "at most 8 children",
    ],
    ["sixteen people", { adults: 15 }, "at most 15 people"],
    ["a child of eighteen", { children: [{ age: 18 }] }, "age"],
    ["leaving on the day of arrival", { departure: STAY.arrival }, "departure must be after arrival"],
    ["an id of the caller's own", { reservationId: "659" }, "reservationId"],
    ["a price in words", { expectedTotal: "675" }, "expectedTotal"],
  ])("X3: a booking with %s is refused before anything is sent", async (_, changes, named) => {
    const before = world.fake.requests.length;
    const result = await caller.call("create_reservation", booking(changes));
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result.content)).toContain(named);
    expect(world.fake.requests.length).toBe(before);
  });

  test("what is just within the limits is sent, and taken", async () => {
    await search(caller, rooms(10));
    await search(caller, guests(7, ...ages(8)));
    await search(caller, guests(1, 1, 17));
    await search(caller, { language: undefined });
    const result = await caller.call("create_reservation", booking({ comment: "ß".repeat(200) }));
    expect(result.isError).not.toBe(true);
  });
});
