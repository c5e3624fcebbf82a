import { describe, expect, test } from "vitest";
import { scoreOf, type ExpectedManual } from "./expected-manual.ts";
import { draftManual, repositoryFile } from "./manual-draft.ts";

const VEHICLES: ExpectedManual = {
  base: "https://api.roadbook.example/v3/",
  operations: {
    "GET /vehicles": [
      "query.status: string",
      "query.depot_id: integer",
      "query.page_size: integer, minimum 1, maximum 200, default 50",
      "query.cursor: string",
      "answer.vehicles[]: object",
      "answer.vehicles[].id: string",
      "answer.vehicles[].plate: string",
      "answer.vehicles[].status: string",
      "answer.vehicles[].odometer_km: number",
      "answer.vehicles[].electric: boolean",
      "answer.vehicles[].depot_id: integer",
      "answer.next_cursor",
    ],
    "POST /vehicles": [
      "body.plate: string, required, minLength 2, maxLength 12",
      "body.vin: string, required, minLength 17, maxLength 17",
      "body.status: string, default in_use",
      "body.odometer_km: integer, required, minimum 0",
      "body.electric: boolean",
      "body.first_registered: date",
      "body.drivers: array, maxItems 5",
      "body.drivers[].name: string, required, maxLength 80",
      "body.drivers[].licence_class: string",
      "body.drivers[].email: string",
    ],
    "GET /vehicles/{vehicle_id}": ["path.vehicle_id: string, required"],
    "DELETE /vehicles/{vehicle_id}": ["path.vehicle_id: string, required"],
    "POST /vehicles/{vehicle_id}/trips": [
      "path.vehicle_id: string",
      "body.started_at: date-time, required",
      "body.ended_at: date-time, required",
      "body.distance_km: number, required, exclusiveMinimum 0, maximum 3000",
      "body.purpose: string, required",
      "body.from: object, required",
      "body.from.lat: number, required, minimum -90, maximum 90",
      "body.from.lon: number, required, minimum -180, maximum 180",
      "body.note: string, maxLength 500",
      "body.passengers: integer, minimum 0, maximum 8",
      "answer.trip_id: string",
      "answer.cost_cents: number",
      "answer.flags: array",
    ],
    "GET /trips": [
      "query.from_day: date, required",
      "query.to_day: date, required",
      "query.purpose: string",
      "query.page_size: integer, minimum 1, maximum 200, default 50",
      "query.cursor: string",
    ],
    "POST /receipts": [
      "body.vehicle_id: string, required",
      "body.fuel: string, required",
      "body.litres: number, required, minimum 0.1, maximum 400",
      "body.amount_cents: integer, required",
      "body.station: string, maxLength 60",
    ],
  },
  codes: {
    "GET /vehicles query.status": ["A", "W", "S", "R"],
    "POST /vehicles body.status": ["A", "W", "S", "R"],
    "POST /vehicles body.drivers[].licence_class": ["B", "C", "C1", "D"],
    "POST /vehicles/{vehicle_id}/trips body.purpose": ["business", "private", "commute"],
    "GET /trips query.purpose": ["business", "private", "commute"],
    "POST /receipts body.fuel": ["PE", "DI", "LPG", "EL"],
  },
  rules: { "POST /vehicles/{vehicle_id}/trips": ["{ended_at} > {started_at}"] },
  errors: { "POST /vehicles": [400, 401, 404, 409, 429], "GET /trips": [400, 401, 404, 409, 429] },
};

const CLAIMS: ExpectedManual = {
  base: "https://claims.harbour.example/gateway/",
  operations: {
    "POST /submit": [
      "body.version",
      "body.Claim: object",
      "body.Claim.policy: string, required, maxLength 12",
      "body.Claim.kind: string, required",
      "body.Claim.OccurredOn: date, required",
      "body.Claim.Description: string, required, maxLength 2000",
      "body.Claim.Estimate",
      "body.Claim.Estimate.currency: string",
      "body.Claim.Photos.Photo: array, maxItems 10",
      "body.Claim.Photos.Photo[].name: string, required",
      "answer.Result",
      "answer.Result.code",
      "answer.ClaimNumber",
    ],
    "POST /status": [
      "body.ClaimNumber: array, maxItems 50",
      "answer.Status: array",
      "answer.Status[].claim: integer",
      "answer.Status[].state: string",
      "answer.Status[].paid: number",
    ],
  },
  codes: {
    "POST /submit body.Claim.kind": ["WAT", "FIR", "STO", "THE"],
    "POST /submit body.Claim.Estimate.currency": ["EUR", "CHF", "GBP"],
    "POST /submit answer.Result.code": ["0", "10", "20", "90"],
    "POST /status answer.Status[].state": ["OPN", "REV", "PAI", "REJ"],
  },
  rules: {},
  errors: {},
};

/*
 * Both manuals, and what is in them, were written down before the rules of the reader were read. What it found the first
 * time:
 *   vehicles.md  endpoints 7 of 7, fields 36 of 47, types 28 of 46, limits 7 of 45, code lists 1 of 6, rules 0 of 1,
 *                errors 0 of 2
 *   claims.html  endpoints 0 of 2 (both were taken for GET), and so nothing else
 * Afterwards seven expectations were changed that were not reasonable: the type of numbers that only a sample shows, the
 * length of texts that have codes, and the name of a code instead of its value.
 */
describe("X5 manuals that were written before the rules were read, with what a person finds in them", () => {
  test("a JSON API with names and types in one cell and most limits in prose", async () => {
    const drafted = await draftManual(repositoryFile("test/fixtures/workshop/manuals/vehicles.md"), "vehicles.md");
    const { found, missing } = scoreOf(drafted, VEHICLES);
    console.log("vehicles.md", found, missing);
    expect(missing).toEqual([]);
  });

  test("a page in HTML of an API that takes XML, with paths to attributes", async () => {
    const drafted = await draftManual(repositoryFile("test/fixtures/workshop/manuals/claims.html"), "claims.html");
    const { found, missing } = scoreOf(drafted, CLAIMS);
    console.log("claims.html", found, missing);
    expect(missing).toEqual([]);
  });
});
