import { expect, test } from "vitest";
import type { ImportedServer } from "../../config/import/import.ts";
import { planImport, type ImportWish } from "./mcp-import.ts";

const wish: ImportWish = { names: [], present: new Map(), replace: false, scope: "user", folder: "/here" };

test("one server of each id is imported, the first that is found; others are named with the reason", () => {
  const found = [server("a", "cursor"), server("a", "vscode"), server("a", "gemini", { command: "other" })];
  const { take, skip } = planImport(found, wish);
  expect(take.map(({ client }) => client)).toEqual(["cursor"]);
  expect(skip.map(({ server: { client }, harmless, reason }) => [client, harmless, reason])).toEqual([
    ["vscode", true, "identical to the entry of cursor"],
    ["gemini", false, "the entry of cursor is used; choose another with --from"],
  ]);
});

test("existing servers are kept, unless they are to be replaced", () => {
  const found = [server("same", "cursor"), server("other", "cursor")];
  const present = new Map<string, unknown>([
    ["same", { command: "x" }],
    ["other", { command: "y" }],
  ]);
  const kept = planImport(found, { ...wish, present });
  expect(kept.take).toEqual([]);
  expect(kept.skip.map(({ harmless }) => harmless)).toEqual([true, false]);
  const replaced = planImport(found, { ...wish, present, replace: true });
  expect(replaced.take.map(({ id }) => id)).toEqual(["other"]);
});

test("an invalid entry is skipped with its problem", () => {
  const { take, skip } = planImport([server("a", "cursor", {})], wish);
  expect(take).toEqual([]);
  expect(skip[0]?.reason).toBe(`Server "a": the entry has neither "command" nor "url"`);
});

test("servers of other folders are imported only by name", () => {
  const found = [
    { ...server("inner", "claude-code"), project: "/elsewhere" },
    { ...server("near", "claude-code"), project: "/here" },
  ];
  expect(planImport(found, wish).take.map(({ id }) => id)).toEqual(["near"]);
  expect(planImport(found, { ...wish, names: ["inner"] }).take.map(({ id }) => id)).toEqual(["inner"]);
});

test("a project's servers are imported into the user's file only by name", () => {
  const found = [server("mine", "cursor"), { ...server("theirs", "cursor"), scope: "project" as const }];
  expect(planImport(found, wish).take.map(({ id }) => id)).toEqual(["mine"]);
  expect(planImport(found, { ...wish, scope: "project" }).take.map(({ id }) => id)).toEqual(["theirs"]);
  expect(planImport(found, { ...wish, names: ["theirs"] }).take.map(({ id }) => id)).toEqual(["theirs"]);
});

test("an unknown name is an error with a suggestion", () => {
  const asking = () => planImport([server("github", "cursor")], { ...wish, names: ["githib"] });
  expect(asking).toThrow(`No other program has a server "githib"`);
});

function server(id: string, client: ImportedServer["client"], entry: object = { command: "x" }): ImportedServer {
  return {
    id,
    name: id,
    client,
    entry,
    scope: "user",
    inputs: [],
    source: { file: `/${client}.json`, line: 1, column: 1 },
  };
}
