import { describe, expect, test } from "vitest";
import { startFake } from "../../../src/workshop/fake/fake.ts";
import { runChecks, type CheckOutcome } from "../../../src/workshop/run-checks.ts";
import { codecFor } from "../../../src/workshop/codec/codec-for.ts";
import type { ToolFile } from "../../../src/workshop/file/model/tool-file.ts";
import { readToolFile } from "../../../src/workshop/file/read-tool-file.ts";
import { draftManual, leavesOf, repositoryFile, type Leaf } from "./manual-draft.ts";

const TEXT = repositoryFile("api/capcorn/manual.md");
const read = readToolFile(repositoryFile("api/capcorn/capcorn.nexus.yaml"), "the reviewed file");
if (!read.file) throw new Error("the reviewed file cannot be read");
const reviewed: ToolFile = read.file;

const drafted = await draftManual(TEXT);

/** The types of both tools, in the reviewed file and in the draft. */
function sides(): { name: string; wanted: Leaf[]; found: Leaf[] }[] {
  const tools = Object.values(drafted.file.tools);
  const of = (path: string) => tools.find(({ request }) => request?.path === path);
  const pairs = [
    { wanted: reviewed.tools["availability_search"], found: of("RoomAvailability") },
    { wanted: reviewed.tools["create_reservation"], found: of("OTA_HotelResNotifRQ") },
  ];
  return pairs.flatMap(({ wanted, found }) =>
    (["input", "output"] as const).map((side) => ({
      name: `${found?.request?.path ?? "?"} ${side}`,
      wanted: wanted ? leavesOf(reviewed, side === "input" ? wanted.input : (wanted.response.type ?? "")) : [],
      found: found ? leavesOf(drafted.file, side === "input" ? found.input : (found.response.type ?? "")) : [],
    })),
  );
}

/** A constant of the reviewed file may be an ordinary value of the draft. */
function isSameKind(wanted: Leaf, found: Leaf): boolean {
  return wanted.kind === found.kind || wanted.kind === "const";
}

/** Limits of the reviewed file that a person added: the manual does not state them. */
const RESERVATION = "OTA_HotelResNotifRQ/HotelReservations/HotelReservation";
const BOOKING = `${RESERVATION}/RoomStays/RoomStay`;
const UNDOCUMENTED = new Set([
  "room_availability/members/member[]/@hotel_id minimum 1",
  `${BOOKING}/RoomTypes/RoomType/@NumberOfUnits minimum 1`,
  `${BOOKING}/GuestCounts/GuestCount[]/@Count minimum 1`,
  `${BOOKING}/Total/@AmountAfterTax minimum 0`,
  `${BOOKING}/BasicPropertyInfo/@HotelCode minimum 1`,
  `${RESERVATION}/Services/Service[]/@Quantity minimum 1`,
  `${RESERVATION}/Services/Service[]/Price/Base/@AmountAfterTax minimum 0`,
]);

function asked(): string[] {
  return drafted.draft.questions.flatMap(({ evidence }) => evidence);
}

/** The lines that an evidence names. */
function quoted(evidence: string): string {
  const [, from = "1", to = from] = /#L(\d+)(?:-L(\d+))?$/.exec(evidence) ?? [];
  return TEXT.split("\n")
    .slice(Number(from) - 1, Number(to))
    .join("\n");
}

describe("X5 the manual of CapCorn becomes a draft without a model", () => {
  test("both endpoints are found, with their address, effect and credentials", () => {
    expect(drafted.facts.operations.map(({ key, effect }) => [key, effect])).toEqual([
      ["POST /RoomAvailability", "read"],
      ["POST /OTA_HotelResNotifRQ", "write"],
    ]);
    expect(drafted.file.upstream.base).toBe("https://mainframe.capcorn.net/RestService/");
    expect(Object.values(drafted.file.secrets).map((set) => [set.query, set.public])).toEqual([
      [{ user: "user", password: "password", system: "system" }, ["user", "system"]],
      [{ pin: "pin" }, []],
    ]);
    expect(Object.values(drafted.file.tools).map(({ limits }) => limits.timeoutMs)).toEqual([30_000, 30_000]);
  });

  test("at least 90 % of the fields of the reviewed file have the right full path, kind and list steps", () => {
    const missing: string[] = [];
    let all = 0;
    for (const { name, wanted, found } of sides()) {
      const byPath = new Map(found.map((leaf) => [leaf.path, leaf]));
      for (const leaf of wanted) {
        all++;
        const other = byPath.get(leaf.path);
        if (!other || !isSameKind(leaf, other))
          missing.push(`${name}: ${leaf.path} (${leaf.kind}), not ${other?.kind ?? "there"}`);
      }
    }
    console.log(`fields of the reviewed file: ${all - missing.length} of ${all}`, missing);
    expect(all).toBeGreaterThan(55);
    expect((all - missing.length) / all).toBeGreaterThanOrEqual(0.9);
  });

  test("all code tables are found, with their codes and readable names", () => {
    const codes = new Map<string, string>();
    let all = 0;
    for (const { wanted, found } of sides()) {
      for (const leaf of wanted) {
        if (leaf.field.shape.kind !== "scalar" || !leaf.field.shape.codes) continue;
        all++;
        const other = found.find(({ path }) => path === leaf.path);
        const shape = other?.field.shape;
        expect(shape?.kind === "scalar" ? shape.codes : undefined, leaf.path).toEqual(leaf.field.shape.codes);
        codes.set(leaf.path, "found");
      }
    }
    const guests = sides()
      .flatMap(({ found }) => found)
      .find(({ path }) => path.endsWith("@AgeQualifyingCode"))?.field.shape;
    expect(guests).toMatchObject({ codes: { 8: "children", 10: "adults" } });
    console.log(`code tables: ${codes.size + 1} of ${all + 1} fields that use one`);
    expect(codes.size).toBe(all);
  });

  test("all documented limits of the reviewed file are found, and their numbers are in lines that the draft cites", () => {
    const missing: string[] = [];
    let all = 0;
    for (const { name, wanted, found } of sides().filter((side) => side.name.endsWith("input"))) {
      for (const leaf of wanted) {
        const other = found.find(({ path }) => path === leaf.path);
        for (const [limit, value] of Object.entries(leaf.limits)) {
          const at = `${leaf.path} ${limit} ${value}`;
          if (UNDOCUMENTED.has(at) || (limit === "minLength" && value === 1)) continue;
          all++;
          if (other?.limits[limit] !== value) missing.push(`${name}: ${at}, not ${other?.limits[limit] ?? "there"}`);
          else if (
            !other.places.some((place) => new RegExp(`(?<![\\d.])${value}(?![\\d.])|\\bone per\\b`).test(quoted(place)))
          )
            missing.push(`${name}: ${at} is not in ${other.places.join()}`);
        }
      }
    }
    const numbers = (file: ToolFile) =>
      Object.values(file.types).flatMap((type) =>
        type.rules.map(({ that, evidence }) => ({
          that,
          evidence,
          end: /(?:<=|>=|<|>) (?:\d+|\w+)$/.exec(that)?.[0] ?? "",
        })),
      );
    const drawn = numbers(drafted.file);
    for (const { that, end } of numbers(reviewed)) {
      all++;
      const value = /\d+/.exec(end)?.[0];
      const same = drawn.find((rule) => rule.end === end);
      // No rule adds up only the items of one kind: this one is a question about the count.
      const isAsked =
        that === "sum(children, count) <= 8" &&
        drafted.draft.questions.some(({ ask }) => ask.includes("at most 8 are children"));
      if (!isAsked && !same?.evidence.some((place) => quoted(place).includes(value ?? "after"))) missing.push(that);
    }
    console.log(`limits and rules of the reviewed file: ${all - missing.length} of ${all}`);
    expect(all).toBeGreaterThan(12);
    expect(missing).toEqual([]);
  });

  test("limits that are only in notes are limits of the fields that they are about, and not questions", () => {
    const found = sides().flatMap((side) => side.found);
    const at = (end: string) => found.find(({ path }) => path.endsWith(end));
    expect(at("GuestCount[]/@Age")).toMatchObject({ limits: { minimum: 1, maximum: 17 } });
    expect(at("GuestCount[]/@Age")?.field.evidence).toContain("manual#L661");
    expect(at("GuestCount[]/@Count")).toMatchObject({ limits: { maximum: 15 } });
    const rules = Object.values(drafted.file.types).flatMap((type) => type.rules.map(({ that }) => that));
    expect(rules).toEqual(["departure > arrival", "adults + count(child) <= 15", "sum(GuestCount, Count) <= 15"]);
    expect(drafted.draft.questions.filter(({ evidence }) => /L66[12]/.test(evidence.join()))).toEqual([]);
  });

  test("what the manual repeats in other words, or marks as uncertain, becomes a question with its line", () => {
    for (const line of ["L123", "L66", "L105", "L108", "L548", "L569", "L667"])
      expect(asked()).toContain(`manual#${line}`);
  });

  test("every quote is where the draft says: its lines have the name of the field, its codes or its limits", () => {
    const wrong: string[] = [];
    let all = 0;
    for (const { found } of sides()) {
      for (const { path, field } of found) {
        const steps = path.split("/").map((step) => step.replaceAll(/[@[\]]/g, ""));
        const codes = field.shape.kind === "scalar" ? Object.keys(field.shape.codes ?? {}) : [];
        for (const evidence of field.evidence) {
          all++;
          const quote = quoted(evidence);
          const isNamed = steps.slice(-2).some((step) => quote.toLowerCase().includes(step.toLowerCase()));
          const isCoded = codes.length > 0 && codes.every((code) => quote.includes(code));
          if (!isNamed && !isCoded && !(/\d/.test(quote) && /\b(?:at most|at least|to)\b/.test(quote)))
            wrong.push(`${path}: ${evidence} is ${quote}`);
        }
      }
    }
    console.log(`quotes: ${all - wrong.length} of ${all}`);
    expect(wrong).toEqual([]);
  });

  test("the draft has no errors, and its checks from the samples pass against its fake", async () => {
    expect(drafted.draft.problems.filter(({ severity }) => severity === "error")).toEqual([]);
    const outcomes: CheckOutcome[] = [];
    for await (const outcome of runChecks(drafted)) outcomes.push(outcome);
    expect(outcomes.map(({ tool, problems }) => [tool, problems])).toEqual(
      Object.keys(drafted.file.tools).map((tool) => [tool, []]),
    );
  });

  test("the fake accepts the sample requests of the manual, and the tools read its sample answers", async () => {
    await using fake = await startFake(drafted.file);
    const samples = [...TEXT.matchAll(/```xml\n([\s\S]*?)```/g)].map(([, xml = ""]) => xml);
    const tools = Object.values(drafted.file.tools);
    let read = 0;
    for (const xml of samples) {
      const root = /<(?!\?)(\w+)/.exec(xml)?.[1];
      for (const { input, request, response } of tools) {
        if (drafted.file.types[input]?.xml.element === root) {
          const secrets = drafted.file.secrets[request?.secrets ?? ""]?.query ?? {};
          const query = new URLSearchParams();
          for (const [name, secret] of Object.entries(secrets)) query.set(name, fake.secrets[secret] ?? "");
          for (const name of Object.keys(request?.query ?? {})) query.set(name, "9100");
          const headers = { "content-type": "application/xml" };
          const answer = await fetch(`${fake.url}${request?.path ?? ""}?${query.toString()}`, {
            method: "POST",
            headers,
            body: xml,
          });
          expect([answer.status, await answer.text()].join(" ").slice(0, 300)).toMatch(/^200 /);
          read++;
        }
        if (drafted.file.types[response.type ?? ""]?.xml.element === root) {
          const { deviations } = codecFor(drafted.file, response.type ?? "", "xml").decode(xml);
          expect(deviations, xml.slice(0, 200)).toEqual([]);
          read++;
        }
      }
    }
    expect(read).toBe(samples.length);
  });
});
