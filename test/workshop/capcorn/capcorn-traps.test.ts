import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { CallToolResult } from "../../../src/protocol/mcp.ts";
import { compileApi, type CompiledApi } from "../../../src/workshop/compile/compile.ts";
import { startFake, type Fake } from "../../../src/workshop/fake/fake.ts";
import type { ToolFile } from "../../../src/workshop/file/model/tool-file.ts";
import { ApiRunner } from "../../../src/workshop/run/api-runner.ts";
import { exampleSettings } from "../../../src/workshop/run/setting-values.ts";
import { GUEST as MANUALS_GUEST } from "./capcorn-stay.ts";
import { exampleFile, manualOf } from "../../fixtures/workshop/example.ts";

let file: ToolFile;
let api: CompiledApi;
let fake: Fake;
let runner: ApiRunner;
/** Everything that was logged, as text. */
let logged: string[];

beforeAll(async () => {
  file = await exampleFile("capcorn");
  ({ api } = compileApi(file, { manual: await manualOf("capcorn") }));
  fake = await startFake(file);
});

beforeEach(() => {
  fake.reset();
  logged = [];
  const log = (...given: unknown[]) => void logged.push(JSON.stringify(given));
  runner = new ApiRunner(api, {
    upstream: fake.url,
    settings: exampleSettings(file),
    secrets: async (name) => fake.secrets[name.replace("capcorn.", "")],
    pause: async () => {},
    logger: { debug: log, info: log, warn: log, error: log },
  });
  return () => runner.close();
});

afterAll(() => fake.close());

const STAY = { arrival: "2025-12-17", departure: "2025-12-20" };
const GUEST = { ...MANUALS_GUEST, surname: `Groß & "Söhne"` };
const SEARCH = { hotelIds: [9100], ...STAY, rooms: [{ adults: 2 }] };
const BOOKING = { hotelId: 9100, categoryCode: "DZ", board: "breakfast", adults: 2, ...STAY, expectedTotal: 544 };

function book(changed: object = {}): Promise<CallToolResult> {
  return runner.call("create_reservation", { ...BOOKING, guest: GUEST, ...changed });
}

function textOf({ content }: CallToolResult): string {
  return content.map((block) => block.text ?? "").join("\n");
}

function bookings(): string[] {
  return fake.requests.filter(({ tool }) => tool === "create_reservation").map(({ body }) => body);
}

describe("X3: limits of the manual are refused before anything is sent", () => {
  const room = (adults: number, ...childAges: number[]) => ({ rooms: [{ adults, childAges }] });
  test.each([
    ["no hotel", { hotelIds: [] }],
    ["no room", { rooms: [] }],
    ["eleven rooms", { rooms: Array.from({ length: 11 }, () => ({ adults: 1 })) }],
    ["sixteen people", room(9, 1, 2, 3, 4, 5, 6, 7)],
    ["sixteen adults", room(16)],
    ["nine children", room(1, 1, 2, 3, 4, 5, 6, 7, 8, 9)],
    ["nobody", room(0)],
    ["a child of 0", room(2, 0)],
    ["a child of 18", room(2, 18)],
    ["half a year", room(2, 1.5)],
    ["leaving on the day of arrival", { departure: STAY.arrival }],
    ["a day that there is not", { arrival: "2025-02-30" }],
    ["another language", { language: "french" }],
    ["something unknown", { currency: "USD" }],
  ])("a search with %s", async (_, changed) => {
    expect(await runner.call("availability_search", { ...SEARCH, ...changed })).toMatchObject({ isError: true });
    expect(fake.requests).toEqual([]);
  });

  test.each([
    ["a category of nine characters", { categoryCode: "DZ-SUPER1" }],
    ["an unknown board", { board: "bed_and_breakfast" }],
    ["no unit", { units: 0 }],
    ["a child of 0", { children: [{ age: 0 }] }],
    ["nine children", { children: [{ age: 3, count: 9 }] }],
    ["sixteen people", { adults: 10, children: [{ age: 3, count: 6 }] }],
    ["a comment of 201 characters", { comment: "ü".repeat(201) }],
    ["a country of three letters", { guest: { ...GUEST, country: "AUT" } }],
    ["no surname", { guest: { ...GUEST, surname: "" } }],
    ["leaving before arriving", { departure: "2025-12-16" }],
  ])("a booking with %s", async (_, changed) => {
    expect(await book(changed)).toMatchObject({ isError: true });
    expect(fake.requests).toEqual([]);
  });

  test("what is just allowed goes through: ten rooms, 15 people, 8 children, 200 characters, days in the past", async () => {
    const rooms = [
      ...Array.from({ length: 9 }, () => ({ adults: 1 })),
      { adults: 7, childAges: [1, 17, 1, 17, 1, 17, 1, 17] },
    ];
    const search = { ...SEARCH, arrival: "2001-05-05", departure: "2001-05-06", rooms };
    expect((await runner.call("availability_search", search)).isError).toBeUndefined();
    expect((await book({ comment: "ü".repeat(200) })).isError).toBeUndefined();
  });
});

describe("X15: a booking", () => {
  test("says the total of all units without extras, CapCorn's number for the board, and one hotel in three spellings", async () => {
    const extras = [{ name: "Skipass", quantity: 2, unitPrice: 50 }];
    const result = await book({ units: 2, expectedTotal: 1088, extras });
    expect(result.structuredContent).toMatchObject({ roomTotal: 1088, guestPays: 1188, currency: "EUR" });
    const [body = ""] = bookings();
    expect(body).toContain('AmountAfterTax="1088.00" CurrencyCode="EUR"');
    expect(body).toContain('MealPlanCodes="1"');
    expect(body).toContain('HotelCode="9100"');
    expect(fake.requests.map(({ address }) => address)).toEqual([
      "/RestService/RoomAvailability?user=demo&password=***&system=12",
      "/RestService/OTA_HotelResNotifRQ?hotelId=9100&pin=***",
    ]);
    expect(fake.requests[0]?.input).toMatchObject({ hotelIds: [9100] });
    expect(fake.requests[1]?.input).toMatchObject({ guest: { surname: GUEST.surname, givenName: "Jörgina" } });
  });

  test("is told apart by its children: the fresh search asks for each of them", async () => {
    await book({ adults: 1, children: [{ age: 3, count: 2 }, { age: 12 }], expectedTotal: 744 });
    expect(fake.requests[0]?.input).toMatchObject({ rooms: [{ adults: 1, childAges: [3, 3, 12] }] });
  });

  test("has an id of its own for each reference, and the same for the same booking", async () => {
    const ids: { reservationId?: string }[] = [];
    for (const reference of ["a", "b", "a"]) ids.push((await book({ reference })).structuredContent ?? {});
    expect(ids[0]?.reservationId).toBe(ids[2]?.reservationId);
    expect(ids[0]?.reservationId).not.toBe(ids[1]?.reservationId);
    expect(bookings()).toHaveLength(2);
  });

  test.each([
    ["the hotel system is away", { status: 503 }],
    ["the answer breaks off", { cut: true }],
    ["the answer cannot be read", { broken: true }],
  ] as const)("is sent once where %s, and its outcome is not known", async (_, failure) => {
    fake.fail(failure, Infinity, "create_reservation");
    const result = await book();
    expect(result.isError).toBe(true);
    expect(textOf(result)).toMatch(/ask the hotel whether a booking with the id [A-Z0-9]+ arrived/);
    expect(bookings()).toHaveLength(1);
  });

  test("with Errors in an answer of 200 is refused, with neither Success nor Errors is no booking", async () => {
    // What the search offers is gone when the booking arrives.
    const gone = fakeOf({ errors: [{ type: "13", code: "404", text: "Kategorie nicht mehr frei" }] });
    const nothing = fakeOf({});
    const other = fakeOf({ accepted: true, confirmedId: "OTHER" });
    expect(await bookAt(await gone)).toMatch(/refused the booking: Kategorie nicht mehr frei. Nothing was booked./);
    expect(await bookAt(await nothing)).toMatch(/neither accepts nor refuses/);
    expect(await bookAt(await other)).toMatch(/another id, OTHER/);
  });
});

/** A fake that answers every booking with this. */
function fakeOf(give: object): Promise<Fake> {
  const tools = { ...file.fake.tools, create_reservation: { answers: [{ status: 200, give }] } };
  return startFake({ ...file, fake: { ...file.fake, tools } });
}

async function bookAt(other: Fake): Promise<string> {
  await using its = other;
  const secrets = async (name: string) => its.secrets[name.replace("capcorn.", "")];
  await using runner = new ApiRunner(api, { upstream: its.url, secrets, settings: exampleSettings(file) });
  const result = await runner.call("create_reservation", { ...BOOKING, guest: GUEST });
  expect(result.isError).toBe(true);
  return textOf(result);
}

test("X9: no secret is in a result, an error, a raw answer or a log", async () => {
  const results = [
    await runner.call("availability_search", { ...SEARCH, includeSourcePayload: true }),
    await book({ includeSourcePayload: true }),
    await book({ expectedTotal: 1 }),
  ];
  for (const failure of [{ status: 503 }, { cut: true }, { broken: true }, { offSchema: true }] as const) {
    fake.fail(failure, Infinity);
    results.push(await runner.call("availability_search", SEARCH), await book({ reference: JSON.stringify(failure) }));
    fake.recover();
  }
  const all = [...results.map((result) => JSON.stringify(result)), ...logged].join("\n");
  expect(logged.length).toBeGreaterThan(10);
  expect(all).not.toContain("demo-secret");
  expect(all).not.toMatch(/pin=|"0000"(?!,"country)|password=/);
});

test("partner code and channel are settings of whoever runs the server, and change nothing of what is approved", async () => {
  const secrets = async (name: string) => fake.secrets[name.replace("capcorn.", "")];
  const settings = { partnerCode: "ACME", channel: "Acme & sons" };
  await using mine = new ApiRunner(api, { upstream: fake.url, secrets, settings });
  await mine.call("create_reservation", { ...BOOKING, guest: GUEST, reference: "mine" });
  expect(bookings().at(-1)).toContain('AgentDutyCode="ACME"');
  expect(bookings().at(-1)).toContain('ResID_Source="Acme &amp; sons"');
  expect(mine.api.hash).toBe(runner.api.hash);
  expect(() => new ApiRunner(api, { upstream: fake.url, secrets })).toThrow(
    '"partnerCode" is missing (Your partner code',
  );
});
