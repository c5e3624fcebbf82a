import { readFile } from "node:fs/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { codecFor } from "../../../src/workshop/codec/codec-for.ts";
import { isLines } from "../../../src/workshop/compile/citations.ts";
import { compileApi } from "../../../src/workshop/compile/compile.ts";
import type { ToolFile } from "../../../src/workshop/file/model/tool-file.ts";
import { canonicalXml } from "../../fixtures/workshop/canonical-xml.ts";
import { GUEST } from "./capcorn-stay.ts";
import { exampleFile, manualOf, printedXml } from "../../fixtures/workshop/example.ts";

let file: ToolFile;
let printed: string[];

beforeAll(async () => {
  file = await exampleFile("capcorn");
  printed = await printedXml("capcorn");
});

/** The documents of the manual, in its order. */
const PRINTED = {
  searchRequest: 0,
  searchAnswer: 1,
  twoBoards: 2,
  single: 3,
  none: 4,
  noOptions: 5,
  bookingRequest: 6,
  bookingAnswer: 7,
  searchError: 8,
  bookingError: 9,
} as const;

function document(name: keyof typeof PRINTED): string {
  return printed[PRINTED[name]] ?? "";
}

function answer(type: string, name: keyof typeof PRINTED) {
  return codecFor(file, type, "xml").decode(document(name));
}

interface Decoded {
  hotels: {
    hotelId: number;
    rooms: { adults: number; childAges: number[]; arrival: string; options: Record<string, unknown>[] }[];
  }[];
}

function optionsOf(name: keyof typeof PRINTED): Record<string, unknown>[] {
  const { hotels } = answer("RoomResult", name).value as unknown as Decoded;
  return hotels.flatMap(({ rooms }) => rooms.flatMap(({ options }) => options));
}

describe("X5: the hotel's tool file", () => {
  test("compiles without problems, and every field, rule and tool says where it comes from", async () => {
    const { problems } = compileApi(file, { manual: await manualOf("capcorn") });
    expect(problems).toEqual([]);
    const places = Object.values(file.types).flatMap(({ fields, rules }) => [...Object.values(fields), ...rules]);
    expect([...places, ...Object.values(file.tools)].filter(({ evidence }) => evidence.length === 0)).toEqual([]);
  });

  test("X5: has fewer than 600 lines, and still compiles to what was approved in its long form", async () => {
    const path = (name: string) => new URL(`../../../api/capcorn/${name}`, import.meta.url);
    const text = await readFile(path("capcorn.nexus.yaml"), "utf8");
    const lock = JSON.parse(await readFile(path("capcorn.nexus.lock"), "utf8")) as { compiled: { hash: string } };
    expect(text.split("\n").length).toBeLessThan(600);
    const documents = { manual: await manualOf("capcorn") };
    expect(compileApi(file, documents).api.hash).toBe(lock.compiled.hash);
    const { hash } = compileApi(file, documents, { format: 1 }).api;
    expect(hash).toBe("sha256:edd4c22ffc3e34e75ef56cb5a477dfcc0f7a9f5d72e7057c7622796adda4279b");
  });

  test("is quoted by its guide as it is", async () => {
    const [guide, text] = await Promise.all(
      ["docs/guide/capcorn.md", "api/capcorn/capcorn.nexus.yaml"].map((path) =>
        readFile(new URL(`../../../${path}`, import.meta.url), "utf8"),
      ),
    );
    const lines = new Set(text?.split("\n"));
    const quoted = [...(guide ?? "").matchAll(/^```yaml\n([^]*?)^```$/gm)].flatMap(([, block = ""]) =>
      block.trimEnd().split("\n"),
    );
    expect(quoted.length).toBeGreaterThan(10);
    expect(quoted.filter((line) => !lines.has(line))).toEqual([]);
  });

  test("every line that is cited says something", async () => {
    const lines = (await manualOf("capcorn")).split("\n");
    const { api } = compileApi(file, { manual: lines.join("\n") });
    const empty = Object.values(api.citations)
      .filter(isLines)
      .filter(({ from, to }) => !lines[from - 1]?.trim() || !lines[to - 1]);
    expect(empty).toEqual([]);
  });

  test("effects become annotations: the search reads although it is a POST, a booking cannot be taken back", async () => {
    const { tools } = compileApi(file, { manual: await manualOf("capcorn") }).api;
    expect(tools["availability_search"]?.annotations).toMatchObject({ readOnlyHint: true });
    expect(tools["create_reservation"]?.annotations).toMatchObject({
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
    });
  });

  test("callers see nothing that is sent by itself", async () => {
    const { tools } = compileApi(file, { manual: await manualOf("capcorn") }).api;
    const properties = tools["create_reservation"]?.inputSchema["properties"] as object;
    expect(Object.keys(properties).toSorted()).toEqual(
      "adults arrival board categoryCode children comment departure expectedTotal extras guest hotelId includeSourcePayload reference units".split(
        " ",
      ),
    );
  });
});

describe("X6: requests", () => {
  test("the search is written as the manual prints it", () => {
    const xml = codecFor(file, "RoomQuery", "xml").encode({
      language: "german",
      hotelIds: [9100],
      arrival: "2025-12-17",
      departure: "2025-12-20",
      rooms: [{ adults: 2, childAges: [3] }, { adults: 2 }],
    });
    expect(canonicalXml(xml)).toEqual(canonicalXml(document("searchRequest")));
  });

  test("the booking is written as the manual prints it, in its order", () => {
    const xml = codecFor(file, "Reservation", "xml").encode({
      createdAt: "2025-11-03T16:20:05.4",
      reservationId: "DEMO-000001",
      partnerCode: "DEMO",
      channel: "Demo channel",
      hotelId: 9100,
      categoryCode: "DZ",
      board: "breakfast",
      units: 1,
      adults: 2,
      children: [{ age: 3, count: 1 }],
      arrival: "2025-12-17",
      departure: "2025-12-20",
      expectedTotal: 675,
      extras: [
        { name: "Skipass 1 Tag", quantity: 2, unitPrice: 50 },
        { name: "Endreinigung", quantity: 1, unitPrice: 65 },
      ],
      guest: GUEST,
      comment: "Ankunft gegen 22 Uhr, bitte Kinderbett bereitstellen.",
      reference: "not sent",
    });
    expect(canonicalXml(xml)).toEqual(canonicalXml(document("bookingRequest")));
  });

  test("what the manual prints is read without a deviation", () => {
    expect(codecFor(file, "RoomQuery", "xml").decode(document("searchRequest")).deviations).toEqual([]);
    expect(codecFor(file, "Reservation", "xml").decode(document("bookingRequest")).deviations).toEqual([]);
  });
});

describe("X6: answers", () => {
  test("the printed answer, with friendly names", () => {
    const { value, deviations } = answer("RoomResult", "searchAnswer");
    expect(deviations).toEqual([]);
    const hotelRoom = { board: "breakfast", roomType: "hotel_room" };
    const south = "Südzimmer 28 m² mit Dusche, WC extra, Balkon, TV, Safe und Fön";
    expect((value as unknown as Decoded).hotels).toEqual([
      {
        hotelId: 9100,
        rooms: [
          {
            adults: 2,
            childAges: [3],
            arrival: "2025-12-17",
            departure: "2025-12-20",
            options: [
              {
                ...hotelRoom,
                categoryCode: "DZ",
                name: "Doppelzimmer mit 1 Zustellbett",
                description: south,
                sizeSqm: 28,
                totalPrice: 675,
                pricePerPerson: 225,
                pricePerAdult: 337.5,
                pricePerNight: 225,
              },
              {
                ...hotelRoom,
                categoryCode: "FAMZ",
                name: "4-Bettzimmer für 3 Personen",
                description: "Fam.Zi.28m² ( Aussicht eingeschränkt ) Dusche, WC, Balkon, Fön",
                sizeSqm: 28,
                totalPrice: 642.5,
                pricePerPerson: 214.17,
                pricePerAdult: 321.25,
                pricePerNight: 214.17,
              },
            ],
          },
          {
            adults: 2,
            childAges: [],
            arrival: "2020-12-17",
            departure: "2020-12-20",
            options: [
              {
                ...hotelRoom,
                categoryCode: "DZK",
                name: "Doppelzimmer",
                description: "Komfortzimmer 22 m², Dusche/WC, Balkon, TV, Zimmersafe, Fön",
                sizeSqm: 22,
                totalPrice: 484,
                pricePerPerson: 242,
                pricePerAdult: 242,
                pricePerNight: 161.33,
              },
              {
                ...hotelRoom,
                categoryCode: "DZ",
                name: "Doppelzimmer",
                description: south,
                sizeSqm: 28,
                totalPrice: 544,
                pricePerPerson: 272,
                pricePerAdult: 272,
                pricePerNight: 181.33,
              },
            ],
          },
        ],
      },
    ]);
  });

  test("two boards of a category stay two, one option is a list, none an empty list", () => {
    const keys = (name: keyof typeof PRINTED) =>
      optionsOf(name).map(({ categoryCode, board }) => `${String(categoryCode)} ${String(board)}`);
    expect(keys("twoBoards")).toEqual(["DZ-S half_board", "DZ-S breakfast", "DZ-D half_board", "DZ-D breakfast"]);
    expect(keys("single")).toEqual(["APP no_meals"]);
    expect(optionsOf("single")[0]?.["description"]).toBe("Appartement 45 m² mit Küche, Bad & Südterrasse");
    expect(answer("RoomResult", "none").value).toMatchObject({ hotels: [] });
    expect(answer("RoomResult", "noOptions").value).toMatchObject({ hotels: [{ rooms: [{ options: [] }] }] });
    for (const name of ["twoBoards", "single", "none", "noOptions"] as const) {
      expect(answer("RoomResult", name).deviations).toEqual([]);
    }
  });

  test("a booking that was accepted, and errors of both calls", () => {
    expect(answer("ReservationResult", "bookingAnswer")).toMatchObject({
      value: { accepted: true, confirmedId: "DEMO-000001", errors: [] },
      deviations: [],
    });
    expect(answer("ReservationResult", "bookingError").value).toMatchObject({
      errors: [{ type: "13", code: "392", text: "Invalid hotel code" }],
    });
    expect(answer("RoomResult", "searchError").value).toMatchObject({
      errors: [{ code: "401", text: "Benutzer, Passwort oder System ungültig" }],
    });
  });
});
