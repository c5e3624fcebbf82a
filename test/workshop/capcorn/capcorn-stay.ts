import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { parse } from "yaml";
import type { Params } from "../../../src/protocol/json-rpc.ts";

/** The search that the manual prints: two rooms, for two and a child of three, and for two. */
export const STAY = {
  language: "german",
  hotelIds: [9100],
  arrival: "2025-12-17",
  departure: "2025-12-20",
  rooms: [{ adults: 2, childAges: [3] }, { adults: 2 }],
};

const ROOM = { board: "breakfast", roomType: "hotel_room" };
const SOUTH = "Südzimmer 28 m² mit Dusche, WC extra, Balkon, TV, Safe und Fön";

/** What it gives, by room. */
export const OPTIONS = [
  [
    {
      ...ROOM,
      categoryCode: "DZ",
      name: "Doppelzimmer mit 1 Zustellbett",
      description: SOUTH,
      sizeSqm: 28,
      totalPrice: 675,
      pricePerPerson: 225,
      pricePerAdult: 337.5,
      pricePerNight: 225,
    },
    {
      ...ROOM,
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
  [
    {
      ...ROOM,
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
      ...ROOM,
      categoryCode: "DZ",
      name: "Doppelzimmer",
      description: SOUTH,
      sizeSqm: 28,
      totalPrice: 544,
      pricePerPerson: 272,
      pricePerAdult: 272,
      pricePerNight: 181.33,
    },
  ],
];

/** Who books in the manual's example. */
export const GUEST = {
  language: "de",
  salutation: "Frau",
  givenName: "Jörgina",
  surname: "Mustermann-Groß",
  phone: "(+43)000000000",
  email: "guest@example.com",
  address: "Musterstraße 1",
  city: "Beispielstadt",
  postalCode: "0000",
  country: "AT",
};

/** The first of these options, with the extras of the manual: 675 for the room, 840 for the guest. */
export function booking(changes: Params = {}): Params {
  return {
    hotelId: 9100,
    categoryCode: "DZ",
    board: "breakfast",
    adults: 2,
    children: [{ age: 3 }],
    arrival: STAY.arrival,
    departure: STAY.departure,
    expectedTotal: 675,
    extras: [
      { name: "Skipass 1 Tag", quantity: 2, unitPrice: 50 },
      { name: "Endreinigung", quantity: 1, unitPrice: 65 },
    ],
    guest: GUEST,
    comment: "Ankunft gegen 22 Uhr, bitte Kinderbett bereitstellen.",
    ...changes,
  };
}

const FACTS = new URL("../../../../shared/examples/capcorn/facts.yaml", import.meta.url);
export const HAS_FACTS = existsSync(FACTS);

interface Facts {
  parsed: { "availability-response": { members: { rooms: { options: Record<string, unknown>[] }[] }[] } };
  prices: { cases: Record<string, unknown>[] };
  design: { result_names: Record<string, string> };
}

/** The same options, from the collected facts about the API, under the names that these propose. */
export async function optionsByFacts(): Promise<Record<string, unknown>[][]> {
  const { parsed, prices, design } = parse(await readFile(FACTS, "utf8")) as Facts;
  const { members } = parsed["availability-response"];
  const rooms = members.flatMap((member) => member.rooms);
  return rooms.map(({ options }) =>
    options.map((option) => {
      const { catc, price } = option;
      const amounts = prices.cases.find((one) => one["catc"] === catc && one["price"] === price);
      const all = Object.entries({ ...amounts, ...option });
      const named = all.flatMap(([name, value]) => {
        const to = design.result_names[name];
        return to === undefined ? [] : [[to, value] as const];
      });
      return Object.fromEntries(named);
    }),
  );
}
