import { expect, test } from "vitest";
import type { Options } from "../command/command.ts";
import { expectedWord } from "./complete-words.ts";

const OPTIONS: Options = {
  server: { type: "string", help: "" },
  arg: { type: "string", multiple: true, help: "" },
  lines: { type: "string", short: "n", help: "" },
  raw: { type: "boolean", help: "" },
};

test("words after the command's name are counted; options and their values are not", () => {
  expect(at("mcp call", "").expected).toEqual({ kind: "word", index: 0 });
  expect(at("mcp call --server s --raw x -n 3", "y")).toMatchObject({
    expected: { kind: "word", index: 1 },
    spoken: ["x"],
  });
  expect(at("--config f mcp call", "").expected).toEqual({ kind: "word", index: 0 });
});

test("an option that takes a value expects it, in the next word or behind an equal sign", () => {
  expect(at("mcp call --server", "s").expected).toMatchObject({ kind: "value", name: "server", prefix: "" });
  expect(at("mcp call -n", "").expected).toMatchObject({ kind: "value", name: "lines" });
  expect(at("mcp call", "--server=s").expected).toMatchObject({ kind: "value", prefix: "--server=" });
  expect(at("mcp call --raw", "x").expected).toEqual({ kind: "word", index: 0 });
  expect(at("mcp call --server=s", "x")).toMatchObject({ expected: { kind: "word", index: 0 } });
});

test("options are offered once; repeatable ones are offered again", () => {
  const { expected } = at("mcp call --raw --arg a=b", "--");
  const names = expected.kind === "option" ? Object.keys(expected.options) : [];
  expect(names).toEqual(expect.arrayContaining(["server", "arg", "json"]));
  expect(names).not.toContain("raw");
});

test("after -- nothing is expected", () => {
  expect(at("mcp add x --", "--raw").expected).toEqual({ kind: "rest" });
});

function at(before: string, current: string): ReturnType<typeof expectedWord> {
  return expectedWord({ words: before.split(" "), current, own: 2 }, { options: OPTIONS });
}
