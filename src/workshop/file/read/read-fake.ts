import { type Part, present, readStatus } from "../../../format/part.ts";
import type { FakeAnswer, FakeSpec, FakeToolSpec } from "../model/tool-file.ts";

const NAME = /^[A-Za-z][A-Za-z0-9_]*$/;

export function readFake(part: Part): FakeSpec {
  part.members(["secrets", "tables", "tools"]);
  return {
    secrets: Object.fromEntries(
      part
        .part("secrets")
        .entries()
        .map(([name, value]) => [name, value.text() ?? ""]),
    ),
    tables: Object.fromEntries(
      part
        .part("tables")
        .entries()
        .map(([name, table]) => [name, readTable(table, name)]),
    ),
    tools: Object.fromEntries(
      part
        .part("tools")
        .entries()
        .map(([name, tool]) => [name, readFakeTool(tool)]),
    ),
  };
}

function readTable(part: Part, name: string): Record<string, unknown>[] {
  if (!NAME.test(name)) part.keyError(`"${name}" cannot be the name of a table`, "Letters, digits and _.");
  if (name === "input" || name === "problem") part.keyError(`"${name}" already is something else in answers`);
  return part.items().map((row) => row.record());
}

function readFakeTool(part: Part): FakeToolSpec {
  part.members(["refused", "invalid", "answers"]);
  return present({
    refused: part.has("refused") ? readAnswer(part.part("refused"), ["status", "give"], 401) : undefined,
    invalid: part.has("invalid") ? readAnswer(part.part("invalid"), ["status", "give"], 400) : undefined,
    answers: part
      .part("answers")
      .items()
      .map((item) => ({
        ...readAnswer(item, ["when", "status", "give", "remember"], 200),
        ...present({ when: item.part("when").text(), remember: item.part("remember").text() }),
      })),
  });
}

function readAnswer(part: Part, keys: readonly string[], status: number): FakeAnswer {
  part.members(keys);
  return {
    status: part.part("status").oneOrMore().flatMap(readStatus)[0] ?? status,
    give: part.part("give").value() ?? {},
  };
}
