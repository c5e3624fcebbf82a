import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { Failures } from "../../../src/workshop/fake/failures.ts";
import { startFake, type Fake } from "../../../src/workshop/fake/fake.ts";
import { Responder } from "../../../src/workshop/fake/responder.ts";
import { examples } from "../../fixtures/depth.ts";
import { canonicalXml } from "../../fixtures/workshop/canonical-xml.ts";
import { exampleFile, printedXml } from "../../fixtures/workshop/example.ts";

let fake: Fake;
/** The same without a socket, for many requests. */
let responder: Responder;
let printed: string[];

beforeAll(async () => {
  const file = await exampleFile("capcorn");
  fake = await startFake(file);
  responder = new Responder(file, new Failures());
  printed = await printedXml("capcorn");
});

beforeEach(() => fake.recover());

afterAll(() => fake.close());

const SEARCH = "RoomAvailability?user=demo&password=demo-secret&system=12";
const BOOKING = "OTA_HotelResNotifRQ?hotelId=9100&pin=0000";

interface Posted {
  status: number;
  text: string;
}

async function post(path: string, body: string, type = "application/xml"): Promise<Posted> {
  const response = await fetch(new URL(path, fake.url), { method: "POST", body, headers: { "content-type": type } });
  return { status: response.status, text: await response.text() };
}

/** The status that a request is answered with. */
function statusOf(path: string, body: string): number {
  const { href: url, pathname, searchParams: query } = new URL(path, "http://fake/RestService/");
  const headers = { "content-type": "application/xml" };
  return responder.respond("POST", pathname, { url, query, headers, body: Buffer.from(body) }).reply.status;
}

/** A search in the words of the manual; written here, not by the codecs that the fake uses. */
interface Search {
  language: string;
  hotels: string[];
  arrival: string;
  departure: string;
  rooms: { adults: string; ages: string[] }[];
}

const STAY: Search = {
  language: "0",
  hotels: ["9100"],
  arrival: "2025-12-17",
  departure: "2025-12-20",
  rooms: [{ adults: "2", ages: [] }],
};

function searchXml({ language, hotels, arrival, departure, rooms }: Search): string {
  const member = hotels.map((id) => `<member hotel_id="${id}"/>`).join("");
  const room = rooms.map(({ adults, ages }) => {
    const children = ages.map((age) => `<child age="${age}"/>`).join("");
    return `<room adults="${adults}">${children}</room>`;
  });
  return `<room_availability><language>${language}</language><members>${member}</members><arrival>${arrival}</arrival><departure>${departure}</departure><rooms>${room.join("")}</rooms></room_availability>`;
}

describe("the hotel's fake answers a search", () => {
  test("with the documented options, in the document that the manual prints", async () => {
    const { status, text } = await post(SEARCH, printed[0] ?? "");
    expect(status).toBe(200);
    // The manual keeps a slip of the vendor's sample: the second room is dated 2020.
    const answer = (printed[1] ?? "").replaceAll("2020-12", "2025-12");
    expect(canonicalXml(text)).toEqual(canonicalXml(answer));
  });

  test.each([
    ["two boards", 2, { arrival: "2025-11-21", departure: "2025-11-23" }],
    ["a single option", 3, { arrival: "2026-02-02", departure: "2026-02-05" }],
    ["a hotel that nobody knows", 4, { hotels: ["1"] }],
    ["nothing free", 5, { arrival: "2025-12-31", departure: "2026-01-02" }],
  ])("%s: as printed", async (_, index, changed) => {
    const { text } = await post(SEARCH, searchXml({ ...STAY, ...changed }));
    expect(canonicalXml(text)).toEqual(canonicalXml(printed[index] ?? ""));
  });

  test.each([
    "RoomAvailability",
    "RoomAvailability?user=demo&password=wrong&system=12",
    "RoomAvailability?user=demo&password=demo-secret",
    "RoomAvailability?user=demo&password=demo-secret&password=demo-secret&system=12",
    "RoomAvailability?hotelId=9100&pin=0000",
  ])("%s is refused with 401", async (path) => {
    const { status, text } = await post(path, printed[0] ?? "");
    expect(status).toBe(401);
    expect(text).toContain(`code="401">Benutzer, Passwort oder System ungültig<`);
  });

  test("what is not XML, of another type, in a namespace or with something unknown is refused with 400", async () => {
    const right = printed[0] ?? "";
    const wrong: [string, string?][] = [
      ["<room_availability>"],
      [""],
      ["{}"],
      [right, "text/plain"],
      [right, "application/json"],
      [right.replace("<room_availability>", '<room_availability xmlns="http://capcorn.at/">')],
      [right.replace("<language>", "<extra/><language>")],
      [right.replace('adults="2"', 'adults="2" babies="1"')],
      [right.replace("<language>0</language>", "")],
    ];
    for (const [body, type] of wrong) expect(await post(SEARCH, body, type)).toMatchObject({ status: 400 });
    const { text } = await post(SEARCH, searchXml({ ...STAY, rooms: [{ adults: "2", ages: ["18"] }] }));
    expect(text).toContain("childAges");
  });
});

/** A value, now and then one of those that are wrong or just right. */
function mostly<T>(usual: T, ...others: T[]): fc.Arbitrary<T> {
  return fc.oneof({ weight: 12, arbitrary: fc.constant(usual) }, { weight: 3, arbitrary: fc.constantFrom(...others) });
}

describe("the fake accepts exactly what the manual allows", () => {
  const age = mostly("7", "0", "1", "17", "18", "-1", "3.5", "");
  const room = fc.record({
    adults: mostly("2", "0", "1", "7", "8", "14", "15", "16", "-1", "two"),
    ages: fc.oneof(
      { weight: 4, arbitrary: fc.array(age, { maxLength: 2 }) },
      { weight: 1, arbitrary: fc.array(age, { minLength: 6, maxLength: 9 }) },
    ),
  });
  const search: fc.Arbitrary<Search> = fc.record({
    language: mostly("0", "1", "2", "-1", "de"),
    hotels: fc.oneof(
      { weight: 8, arbitrary: fc.constant<string[]>(["9100"]) },
      { weight: 2, arbitrary: fc.constantFrom<string[]>([], ["9100", "1"], ["x"]) },
    ),
    arrival: mostly("2025-12-17", "2025-12-20", "2025-12-19", "1999-01-01", "17.12.2025", "2025-02-30"),
    departure: mostly("2025-12-20", "2025-12-17", "2025-12-18", "2031-01-01", "2025-13-01"),
    rooms: fc.oneof(
      { weight: 5, arbitrary: fc.array(room, { minLength: 1, maxLength: 2 }) },
      { weight: 1, arbitrary: fc.array(room, { maxLength: 1 }) },
      {
        weight: 2,
        arbitrary: fc
          .integer({ min: 9, max: 11 })
          .map((length) => Array.from({ length }, () => ({ adults: "1", ages: [] as string[] }))),
      },
    ),
  });

  /** 3.2 and 3.3 of the manual. */
  function isAllowed({ language, hotels, arrival, departure, rooms }: Search): boolean {
    return (
      ["0", "1"].includes(language) &&
      hotels.length >= 1 &&
      hotels.every(isWhole) &&
      isDay(arrival) &&
      isDay(departure) &&
      departure > arrival &&
      rooms.length >= 1 &&
      rooms.length <= 10 &&
      rooms.every(
        ({ adults, ages }) =>
          isWhole(adults) &&
          Number(adults) >= 1 &&
          ages.length <= 8 &&
          Number(adults) + ages.length <= 15 &&
          ages.every((age) => isWhole(age) && Number(age) >= 1 && Number(age) <= 17),
      )
    );
  }

  test("X15: searches, over all limits", () => {
    const seen = { allowed: 0, refused: 0 };
    fc.assert(
      fc.property(search, (random) => {
        const status = statusOf(SEARCH, searchXml(random));
        expect(status).toBe(isAllowed(random) ? 200 : 400);
        seen[status === 200 ? "allowed" : "refused"] += 1;
      }),
      { numRuns: examples(1_000) },
    );
    expect(Math.min(seen.allowed, seen.refused)).toBeGreaterThan(examples(1_000) / 20);
  });

  const booking: fc.Arbitrary<Booking> = fc.record({
    code: mostly("DZ", "", "DZ-SUPER", "DZ-SUPER1", "ÄÖÜäöüß1", "ÄÖÜäöüß12"),
    board: mostly("1", "2", "5", "0", "6", "14", ""),
    units: mostly("1", "2", "0", "-1", "one"),
    adults: mostly("2", "0", "1", "15", "16", "12"),
    children: fc.oneof(
      { weight: 6, arbitrary: fc.constant<Booking["children"]>([]) },
      fc.array(fc.record({ age, count: mostly("1", "0", "2", "8", "9") }), { minLength: 1, maxLength: 3 }),
    ),
    start: mostly("2025-12-17", "2025-12-20", "2025-12-21", "today"),
    end: mostly("2025-12-20", "2025-12-17", "2025-11-31"),
    total: mostly("544.00", "0.00", "-1.00", "544,00", ""),
    currency: mostly("EUR", "USD", "eur"),
    hotel: mostly("9100", "9101", "hotel"),
    status: mostly("Book", "Cancel"),
    version: mostly("1", "2"),
    perRoom: mostly("true", "false"),
    created: mostly("2025-11-03T16:20:05.4", "2025-11-03T16:20:05", "2025-11-03T16:20:05Z", "2025-11-03", "now"),
    country: mostly("AT", "A", "AUT", "at", "43"),
    surname: mostly("Mustermann-Groß", "&amp; &quot;Söhne&quot;", ""),
    comment: mostly<number | undefined>(20, undefined, 199, 200, 201, 500),
    id: mostly("B", ""),
  });

  /** 4 and 5.2 of the manual. */
  function isBookable(booking: Booking): boolean {
    const { children, code } = booking;
    const count = children.reduce((sum, child) => sum + Number(child.count), 0);
    return (
      Array.from(code).length >= 1 &&
      Array.from(code).length <= 8 &&
      ["1", "2", "3", "4", "5"].includes(booking.board) &&
      isWhole(booking.units) &&
      Number(booking.units) >= 1 &&
      Number(booking.adults) >= 1 &&
      Number(booking.adults) + count <= 15 &&
      count <= 8 &&
      children.every(({ age, count }) => isWhole(age) && Number(age) >= 1 && Number(age) <= 17 && Number(count) >= 1) &&
      isDay(booking.start) &&
      isDay(booking.end) &&
      booking.end > booking.start &&
      /^\d+(\.\d+)?$/.test(booking.total) &&
      booking.currency === "EUR" &&
      booking.hotel === "9100" &&
      booking.status === "Book" &&
      booking.version === "1" &&
      booking.perRoom === "true" &&
      /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?$/.test(booking.created) &&
      /^[A-Z]{2}$/.test(booking.country) &&
      booking.surname !== "" &&
      (booking.comment ?? 0) <= 200 &&
      booking.id !== ""
    );
  }

  test("X15: bookings, over all limits", () => {
    const seen = { allowed: 0, refused: 0 };
    let number = 0;
    fc.assert(
      fc.property(booking, (random) => {
        number += 1;
        const id = random.id === "" ? "" : `${random.id}${number}`;
        const status = statusOf(BOOKING, bookingXml({ ...random, id }));
        expect(status).toBe(isBookable(random) ? 200 : 400);
        seen[status === 200 ? "allowed" : "refused"] += 1;
      }),
      { numRuns: examples(1_000) },
    );
    expect(Math.min(seen.allowed, seen.refused)).toBeGreaterThan(examples(1_000) / 100);
  });
});

/** A booking in the words of the manual. */
interface Booking {
  code: string;
  board: string;
  units: string;
  adults: string;
  children: { age: string; count: string }[];
  start: string;
  end: string;
  total: string;
  currency: string;
  hotel: string;
  status: string;
  version: string;
  perRoom: string;
  created: string;
  country: string;
  surname: string;
  /** How many characters. */
  comment: number | undefined;
  id: string;
}

const ROOM: Booking = {
  code: "DZ",
  board: "1",
  units: "1",
  adults: "2",
  children: [],
  start: "2025-12-17",
  end: "2025-12-20",
  total: "544.00",
  currency: "EUR",
  hotel: "9100",
  status: "Book",
  version: "1",
  perRoom: "true",
  created: "2025-11-03T16:20:05.4",
  country: "AT",
  surname: "Mustermann-Groß",
  comment: undefined,
  id: "A-1",
};

function bookingXml(booking: Booking): string {
  const children = booking.children.map(
    ({ age, count }) => `<GuestCount AgeQualifyingCode="8" Age="${age}" Count="${count}"/>`,
  );
  const comments =
    booking.comment === undefined
      ? ""
      : `<Comments><Comment><ListItem>${"ü".repeat(booking.comment)}</ListItem></Comment></Comments>`;
  return `<?xml version="1.0" encoding="utf-8"?>
<OTA_HotelResNotifRQ xmlns="http://www.opentravel.org/OTA/2003/05" Version="${booking.version}">
<POS><Source AgentDutyCode="DEMO"/></POS><HotelReservations><HotelReservation CreateDateTime="${booking.created}" ResStatus="${booking.status}">
<RoomStays><RoomStay><RoomTypes><RoomType NumberOfUnits="${booking.units}" RoomTypeCode="${booking.code}"/></RoomTypes>
<RatePlans><RatePlan><MealsIncluded MealPlanCodes="${booking.board}"/></RatePlan></RatePlans>
<GuestCounts IsPerRoom="${booking.perRoom}"><GuestCount AgeQualifyingCode="10" Count="${booking.adults}"/>${children.join("")}</GuestCounts>
<TimeSpan Start="${booking.start}" End="${booking.end}"/><Total AmountAfterTax="${booking.total}" CurrencyCode="${booking.currency}"/>
<BasicPropertyInfo HotelCode="${booking.hotel}"/></RoomStay></RoomStays>
<ResGuests><ResGuest><Profiles><ProfileInfo><Profile><Customer><PersonName><NamePrefix>Frau</NamePrefix><GivenName>Jörgina</GivenName><Surname>${booking.surname}</Surname></PersonName>
<Telephone PhoneNumber="(+43)000000000"/><Email>guest@example.com</Email><Address><AddressLine>Musterstraße 1</AddressLine><CityName>Beispielstadt</CityName><PostalCode>0000</PostalCode><CountryName Code="${booking.country}"/></Address></Customer></Profile></ProfileInfo></Profiles>${comments}</ResGuest></ResGuests>
<ResGlobalInfo><HotelReservationIDs><HotelReservationID ResID_Value="${booking.id}" ResID_Source="Demo channel"/></HotelReservationIDs></ResGlobalInfo>
</HotelReservation></HotelReservations></OTA_HotelResNotifRQ>`;
}

function isWhole(text: string): boolean {
  return /^-?\d+$/.test(text);
}

function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
}

describe("the hotel's fake answers a booking", () => {
  test("the documented one is accepted, the second time its id was used before", async () => {
    const first = await post(BOOKING, printed[6] ?? "");
    expect(first.status).toBe(200);
    expect(canonicalXml(first.text)).toEqual(canonicalXml(printed[7] ?? ""));
    const again = await post(BOOKING, printed[6] ?? "");
    expect(again).toMatchObject({ status: 200, text: expect.stringContaining("Booking id was used before") });
    expect(again.text).not.toContain("Success");
  });

  test.each([
    ["a category that is not free", { code: "SUITE" }],
    ["a board that the category is not sold with", { board: "5" }],
    ["more guests than it has beds", { adults: "9" }],
    ["days that nobody can book", { start: "2025-12-31", end: "2026-01-02" }],
  ])("%s comes with 200 and errors", async (name, changed) => {
    const answer = await post(BOOKING, bookingXml({ ...ROOM, ...changed, id: name.replaceAll(" ", "-") }));
    expect(answer).toMatchObject({ status: 200, text: expect.stringContaining("Category is no longer free") });
    expect(answer.text).not.toContain("Success");
  });

  test.each([
    "OTA_HotelResNotifRQ?hotelId=9100",
    "OTA_HotelResNotifRQ?hotelId=9100&pin=0001",
    "OTA_HotelResNotifRQ?hotelId=9101&pin=0000",
    "OTA_HotelResNotifRQ?user=demo&password=demo-secret&system=12",
  ])("%s is refused with 401", async (path) => {
    const { status, text } = await post(path, bookingXml(ROOM));
    expect(status).toBe(401);
    expect(canonicalXml(text)).toEqual(canonicalXml(printed[9] ?? ""));
  });
});

describe("the fake fails on demand", () => {
  test("with a status, with an answer that breaks off, that is broken, or that is not as documented", async () => {
    const search = () => post(SEARCH, searchXml(STAY));
    const right = await search();

    fake.fail({ status: 503 });
    expect(await search()).toMatchObject({ status: 503, text: expect.stringContaining("<html>") });

    fake.fail({ cut: true });
    await expect(search()).rejects.toThrow();

    fake.fail({ broken: true });
    const broken = await search();
    expect(broken.status).toBe(200);
    expect(() => canonicalXml(broken.text)).toThrow();

    fake.fail({ offSchema: true });
    const off = await search();
    expect(off.status).toBe(200);
    const names = JSON.stringify(canonicalXml(off.text));
    expect(names).toContain("unexpected");
    expect(names).toContain("many");

    expect(await search()).toEqual(right);
  });

  test("a delayed answer comes late; the fake can be closed meanwhile", async () => {
    await using slow = await startFake(await exampleFile("capcorn"));
    slow.fail({ delayMs: 600_000 });
    const asked = fetch(new URL(SEARCH, slow.url), { method: "POST", body: searchXml(STAY) });
    await expect.poll(() => slow.requests.length).toBe(1);
    const gone = expect(asked).rejects.toThrow();
    await slow.close();
    await gone;
  });

  test("over HTTP; the requests that came are shown without secrets", async () => {
    const control = new URL("/__fake", fake.url);
    const order = (body: unknown) =>
      fetch(control, { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } });
    expect(await (await order({ fail: { status: 502 }, times: 2 })).json()).toMatchObject({ times: 2 });
    expect((await post(SEARCH, searchXml(STAY))).status).toBe(502);
    expect((await post(SEARCH, searchXml(STAY))).status).toBe(502);
    expect((await post(SEARCH, searchXml(STAY))).status).toBe(200);
    expect((await order({ fail: { status: 7 } })).status).toBe(400);
    expect((await fetch(control, { method: "POST", body: `{"fail":{"status":502}}` })).status).toBe(405);

    await post(BOOKING, bookingXml({ ...ROOM, id: "shown" }));
    const shown = await (await fetch(control)).text();
    expect(shown).toContain("RoomAvailability?user=demo&password=***&system=12");
    expect(shown).toContain("OTA_HotelResNotifRQ?hotelId=9100&pin=***");
    expect(shown).not.toContain("demo-secret");
    expect(shown).not.toContain("pin=0000");
  });

  test("it listens on loopback addresses alone", async () => {
    await expect(startFake(await exampleFile("capcorn"), { host: "0.0.0.0" })).rejects.toMatchObject({
      code: "ARGUMENTS_INVALID",
    });
  });
});
