import { expect, test } from "vitest";
import { cpuMsOf } from "../../../test/fixtures/cpu-time.ts";
import { readToolFile } from "../file/read-tool-file.ts";
import { learnedChanges, withLearned, type LearnedChange } from "./learned-changes.ts";
import type { SeenDeviation } from "./seen-deviations.ts";

const MORE_TYPES = Array.from({ length: 100 }, (_, index) => {
  const fields = Array.from({ length: 10 }, (__, field) => `      field${field}: { type: string, optional: true }\n`);
  return `  T${index}:\n    fields:\n${fields.join("")}`;
});
const FILE = `nexus: 1
api: weather
title: Weather
version: 1.0.0
upstream: { base: https://weather.example/ }
types:
  Nothing: { fields: {} }
  Report:
    fields:
      degrees: { type: integer, minimum: -50, maximum: 60 }
      sky: { type: string, codes: { 1: clear, 2: cloudy } }
tools:
  report:
    title: Report
    description: The weather.
    effect: read
    input: Nothing
    request: { method: GET, path: report }
    response: { type: Report, as: json, text: "It is {degrees}." }
`;

function seen(path: string, more: Partial<SeenDeviation> = {}): SeenDeviation {
  const at = "2030-01-01T00:00:00.000Z";
  const unknown = { problem: "unknown member", kinds: ["number"], values: [], count: 1, first: at, last: at };
  return { tool: "report", path, ...unknown, ...more };
}

function propose(all: readonly SeenDeviation[], text = FILE): LearnedChange[] {
  return learnedChanges(text, readToolFile(text, "x.nexus.yaml").file ?? expect.fail(), all);
}

test("many proposals for a large tool file take about as long as one", async () => {
  const large = FILE.replace("tools:\n", `${MORE_TYPES.join("")}tools:\n`);
  propose([seen("wind")], large);
  const one = await cpuMsOf(() => propose([seen("wind")], large));
  const all = Array.from({ length: 60 }, (_, index) => seen(`wind${index}`));
  const many = await cpuMsOf(() => expect(propose(all, large).every(({ edit }) => edit !== undefined)).toBe(true));
  expect(many).toBeLessThan(10 * one);
});

test("a proposal with which the file would not be valid is left to a person, and all others are made", () => {
  const codes = { problem: "expected one of the codes 1, 2", kinds: ["text"], values: ["+7", "-7"] };
  const most = { problem: "expected at most 60", kinds: ["whole number"], values: ["71"] };
  const learned = propose([seen("wind"), seen("sky", codes), seen("rain"), seen("degrees", most)]);
  expect(learned.filter(({ edit }) => !edit).map(({ about }) => about)).toEqual(["types.Report.fields.sky"]);
  const { file: changed } = readToolFile(withLearned(FILE, learned), "x.nexus.yaml");
  expect(Object.keys(changed?.types["Report"]?.fields ?? {})).toEqual(["degrees", "sky", "wind", "rain"]);
});

test("several proposals about one field are made one after the other", () => {
  const low = { problem: "expected at least -50", kinds: ["whole number"], values: ["-60"] };
  const high = { problem: "expected at most 60", kinds: ["whole number"], values: ["71"] };
  const learned = propose([seen("degrees", low), seen("degrees", high), seen("degrees", { problem: "missing" })]);
  const { file: changed } = readToolFile(withLearned(FILE, learned), "x.nexus.yaml");
  expect(changed?.types["Report"]?.fields["degrees"]).toMatchObject({
    optional: true,
    shape: { minimum: -60, maximum: 71 },
  });
});
