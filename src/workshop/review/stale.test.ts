import { describe, expect, test } from "vitest";
import { MANUAL, smallFile } from "../../../test/fixtures/workshop/small-file.ts";
import { citationsOf } from "../compile/citations.ts";
import type { ToolFile } from "../file/model/tool-file.ts";
import { staleIn } from "./stale.ts";

const API = { paths: { "/a": { get: { summary: "A" } }, "/b": { get: { summary: "B" } } } };

/** The small file, whose tool leans on a description and whose fields and rules on the manual. */
function leaning(): ToolFile {
  const file = smallFile();
  Object.assign(file.tools["find"] ?? {}, { evidence: ["openapi#/paths/~1a/get", "openapi#/paths/~1b/get"] });
  return file;
}

function compared(after: Record<string, string>, { isTextKnown = true } = {}) {
  const file = leaning();
  const before = { manual: MANUAL, openapi: JSON.stringify(API) };
  const { citations } = citationsOf(file, before);
  return staleIn(file, { citations, before: isTextKnown ? before : {}, after });
}

test("a page of a PDF is stale if its text changed, and moved if it is another page now", () => {
  const pages = (...texts: string[]) =>
    texts.map((text, index) => `Guide v${texts.length}\n${text}\nPage ${index + 1}\n`).join("\f");
  const file = smallFile();
  Object.assign(file.tools["find"] ?? {}, { evidence: ["pdf#P1", "pdf#P2", "pdf#P3"] });
  const before = { pdf: pages("# One\nfirst", "second", "third") };
  const { citations, outside } = citationsOf(file, before);
  expect(outside).toEqual([]);
  expect(citations["pdf#P2"]).toMatchObject({ document: "pdf", page: 2, heading: "One" });
  const after = { pdf: pages("# One\nfirst", "second, changed", "new", "third") };
  expect(staleIn(file, { citations, before, after })).toEqual({
    stale: [
      {
        path: "tools.find",
        evidence: "pdf#P2",
        change: "changed",
        before: "second",
        after: "second, changed",
        tools: ["find"],
      },
    ],
    moved: [{ path: "tools.find", evidence: "pdf#P3", to: "pdf#P4" }],
  });
  Object.assign(file.tools["find"] ?? {}, { evidence: ["pdf#P9"] });
  expect(citationsOf(file, before).outside[0]?.problem).toBe("it has 3 pages, counted from 1");
});

describe("what leans on a document", () => {
  test("is not stale if the document says the same in another layout", () => {
    expect(compared({ manual: MANUAL, openapi: JSON.stringify(API, undefined, 4) })).toEqual({ stale: [], moved: [] });
  });

  test("is stale if the part changed or is gone, and nothing else is", () => {
    const newer = { paths: { "/a": { get: { summary: "Changed" } }, "/c": API.paths["/b"] } };
    expect(compared({ openapi: JSON.stringify(newer) }).stale).toEqual([
      {
        path: "tools.find",
        evidence: "openapi#/paths/~1a/get",
        change: "changed",
        before: `{\n  "summary": "A"\n}`,
        after: `{\n  "summary": "Changed"\n}`,
        tools: ["find"],
      },
      {
        path: "tools.find",
        evidence: "openapi#/paths/~1b/get",
        change: "gone",
        before: `{\n  "summary": "B"\n}`,
        tools: ["find"],
      },
    ]);
  });

  test("is stale if its lines changed; fields name the tools that have them", () => {
    const newer = MANUAL.replace("at most 20 letters", "at most 30 letters");
    expect(newer).not.toBe(MANUAL);
    const { stale, moved } = compared({ manual: newer });
    expect(moved).toEqual([]);
    expect(stale.length).toBeGreaterThan(0);
    for (const place of stale) {
      expect(place).toMatchObject({ change: "changed", tools: ["find"] });
      expect(place.before).toContain("20 letters");
      expect(place.after).toContain("30 letters");
    }
  });

  test("is shown with its new text if its lines changed and moved", () => {
    const newer = `A new first line\n${MANUAL.replace("at most 20 letters", "at most 30 letters")}`;
    const { stale } = compared({ manual: newer });
    expect(stale.length).toBeGreaterThan(0);
    for (const place of stale) {
      expect(place.before).toContain("20 letters");
      expect(place.after).toBe(place.before?.replace("20 letters", "30 letters"));
    }
  });

  test("moved if its lines are elsewhere now", () => {
    const { stale, moved } = compared({ manual: `A new first line\n${MANUAL}` }, { isTextKnown: false });
    expect(stale).toEqual([]);
    expect(moved.length).toBeGreaterThan(0);
    for (const { evidence, to } of moved) {
      expect(Number(/L(\d+)/.exec(to)?.[1])).toBe(Number(/L(\d+)/.exec(evidence)?.[1]) + 1);
    }
  });
});
