import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { readToolFile } from "../../file/read-tool-file.ts";
import { consequencesOf } from "./consequences.ts";
import { chunksOf } from "./file-chunks.ts";
import { mergeDraft } from "./merge-draft.ts";

interface Operation {
  title?: string;
  description?: string;
  effect?: string;
  path?: string;
}

/** A draft as an import writes it, of a museum with these operations and fields. */
function draft(tools: Record<string, Operation>, fields: Record<string, string> = { day: "date" }): string {
  return `nexus: 1
api: museum
title: Museum
version: "1.0"
upstream:
  base: https://museum.example/

types:
  Query:
    fields:
${Object.entries(fields)
  .map(([name, type]) => `      ${name}: { type: ${type} }\n`)
  .join("")}  Answer:
    fields:
      text: { type: string }

tools:
${Object.entries(tools)
  .map(
    ([name, { title = name, description = `Does ${name}.`, effect = "read", path = name }]) => `  ${name}:
    title: ${title}
    description: ${description}
    effect: ${effect}
    input: Query
    request: { method: POST, path: ${path}, body: json }
    response: { as: json, type: Answer, text: Done. }
`,
  )
  .join("")}
questions:
  - { about: tools, ask: Is it so? }
`;
}

const OLD = { hours: {}, tickets: {}, events: {} };

function toolsIn(text: string): Record<string, Record<string, unknown>> {
  return (parse(text) as { tools: Record<string, Record<string, unknown>> }).tools;
}

describe("importing again", () => {
  test("X6: an untouched file becomes the new draft", () => {
    const theirs = draft({ hours: { title: "Opening hours" }, events: {}, maps: {} });
    const { text, taken, proposals } = mergeDraft({ base: draft(OLD), mine: draft(OLD), theirs });
    expect(parse(text)).toEqual(parse(theirs));
    expect(taken).toEqual([
      { path: "tools.hours", what: "changed" },
      { path: "tools.tickets", what: "removed" },
      { path: "tools.maps", what: "added" },
    ]);
    expect(proposals).toEqual([]);
  });

  test("X6: what a person edited stays, with comments and order; what the document changed beside it is taken over", () => {
    const mine = draft(OLD)
      .replace("    title: hours\n", "    title: When we are open # as marketing calls it\n")
      .replace("  events:\n", "  # Only in summer.\n  events:\n");
    const theirs = draft({ ...OLD, hours: { description: "Opening hours of a day." }, events: { path: "v2/events" } });
    const { text, taken, proposals } = mergeDraft({ base: draft(OLD), mine, theirs });
    expect(proposals).toEqual([]);
    expect(taken).toEqual([
      { path: "tools.hours.description", what: "changed" },
      { path: "tools.events.request.path", what: "changed" },
    ]);
    expect(text).toBe(
      mine
        .replace("description: Does hours.", "description: Opening hours of a day.")
        .replace("path: events", "path: v2/events"),
    );
  });

  test("X6: what both changed stays as the person wrote it, and is proposed with its consequence", () => {
    const mine = draft(OLD).replace("path: hours, body", "path: open, body");
    const theirs = draft({ ...OLD, hours: { path: "v2/hours" } });
    const { text, proposals } = mergeDraft({ base: draft(OLD), mine, theirs });
    expect(text).toBe(mine);
    expect(proposals).toMatchObject([{ where: "tools.hours.request.path", mine: "open", theirs: "v2/hours" }]);
    expect(consequencesOf(text, proposals)).toMatchObject([
      { changes: [{ kind: "endpoint added", path: "tools.hours.request.path", message: "open → v2/hours" }] },
    ]);
  });

  test("X6: an operation that is gone is removed if it was not edited, and proposed if it was", () => {
    const mine = draft(OLD).replace("    title: hours\n", "    title: When we are open\n");
    const { text, taken, proposals } = mergeDraft({ base: draft(OLD), mine, theirs: draft({ events: {} }) });
    expect(Object.keys(toolsIn(text))).toEqual(["hours", "events"]);
    expect(taken).toEqual([{ path: "tools.tickets", what: "removed" }]);
    expect(proposals).toMatchObject([{ where: "tools.hours", theirs: undefined }]);
    expect(consequencesOf(text, proposals)[0]).toBeDefined();
  });

  test("what a person removed stays away, and what a person added stays", () => {
    const own = draft({ mine_only: {} }).match(/ {2}mine_only:[^]*?(?=\nquestions)/)?.[0] ?? "";
    const mine = draft({ hours: {}, events: {} }).replace("\nquestions", `${own}\nquestions`);
    const theirs = draft({ hours: {}, tickets: { title: "New" }, events: {}, maps: {} });
    const { text, proposals } = mergeDraft({ base: draft(OLD), mine, theirs });
    expect(Object.keys(toolsIn(text))).toEqual(["hours", "events", "maps", "mine_only"]);
    expect(proposals).toEqual([]);
  });

  test("new fields come into types whose other fields were edited, and a narrower one is proposed as such", () => {
    const base = draft(OLD, {
      day: "date",
      size: "string, optional: true, maxLength: 30",
    });
    const mine = base.replace("maxLength: 30", "maxLength: 25");
    const theirs = draft(OLD, {
      day: "date",
      size: "string, optional: true, maxLength: 10",
      room: "string, optional: true",
    });
    const { text, taken, proposals } = mergeDraft({ base, mine, theirs });
    expect(taken).toEqual([{ path: "types.Query.fields.room", what: "changed" }]);
    expect(parse(text)).toMatchObject({
      types: { Query: { fields: { size: { maxLength: 25 }, room: { type: "string" } } } },
    });
    expect(consequencesOf(text, proposals)[0]?.changes[0]).toMatchObject({
      kind: "input narrowed",
      message: "maxLength 25 → 10",
    });
  });

  test("answered questions stay away, and new ones are asked", () => {
    const ask = (text: string, ...questions: string[]) =>
      text.replace(
        "  - { about: tools, ask: Is it so? }",
        questions.map((each) => `  - { about: tools, ask: ${each} }`).join("\n"),
      );
    const base = ask(draft(OLD), "one", "two");
    const { text } = mergeDraft({ base, mine: ask(draft(OLD), "two"), theirs: ask(draft(OLD), "one", "two", "three") });
    expect((parse(text) as { questions: { ask: string }[] }).questions.map((each) => each.ask)).toEqual([
      "two",
      "three",
    ]);
  });

  test("new questions are asked after all old ones were answered, and lines that moved ask nothing again", () => {
    const ask = (...questions: string[]) =>
      draft(OLD).replace("  - { about: tools, ask: Is it so? }", questions.map((each) => `  - ${each}`).join("\n"));
    const one = (line: number) => `{ about: tools.hours, ask: one, evidence: [manual#L${line}] }`;
    const two = (line: number) => `{ about: tools.events, ask: two, evidence: [manual#L${line}] }`;
    const asked = (mine: string, ...theirs: string[]) =>
      (
        parse(mergeDraft({ base: ask(one(1), two(2)), mine, theirs: ask(...theirs) }).text) as {
          questions?: { ask: string; evidence: string[] }[];
        }
      ).questions;
    const answered = draft(OLD).replace(/\nquestions:[^]*$/, "");
    expect(asked(answered, one(3), two(4))).toBeUndefined();
    const three = "{ about: tools, ask: three, evidence: [manual#L9] }";
    expect(asked(answered, one(3), two(4), three)).toEqual([parse(three)]);
    expect(asked(ask(two(2)), one(3), two(4), three)).toEqual([parse(two(4)), parse(three)]);
  });

  test("a file in another layout is merged by its values", () => {
    const mine = draft(OLD).replaceAll(/^( +)/gm, "$1$1");
    const { text, taken } = mergeDraft({
      base: draft(OLD),
      mine,
      theirs: draft({ ...OLD, maps: {}, hours: { title: "Hours" } }),
    });
    expect(Object.keys(toolsIn(text))).toEqual(["hours", "tickets", "events", "maps"]);
    expect(toolsIn(text)["hours"]).toMatchObject({ title: "Hours" });
    expect(taken).toHaveLength(2);
    expect(readToolFile(text, "museum.nexus.yaml").problems.filter(({ severity }) => severity === "error")).toEqual([]);
  });
});

test("1,100 tools are merged", () => {
  const many = (title: string) =>
    Object.fromEntries(
      Array.from({ length: 1_100 }, (_, index) => [`tool_${index}`, index % 10 === 0 ? { title } : {}]),
    );
  const mine = draft(many("Old")).replaceAll("description: Does tool_5", "description: It does tool_5");
  const { text, taken } = mergeDraft({ base: draft(many("Old")), mine, theirs: draft(many("New")) });
  expect(taken.length).toBeGreaterThan(100);
  expect(text.match(/title: New/g)).toHaveLength(110);
});

test("a file is divided without a loss", () => {
  const text = `# First\n${draft(OLD)}\n# Last\n`;
  expect(
    chunksOf(text)
      .map((chunk) => chunk.text)
      .join(""),
  ).toBe(text);
});
