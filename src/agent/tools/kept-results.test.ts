import { expect, test } from "vitest";
import { KeptResults } from "./kept-results.ts";
import type { CallToolResult } from "../../protocol/mcp.ts";

const ORIGIN = { server: "s", tool: "t" };
const MEGABYTE = 1024 * 1024;

async function read(kept: KeptResults, id: string, offset: number): Promise<CallToolResult> {
  return kept.tool.run({ id, offset }, {});
}

test("a result that fits is not kept", () => {
  const kept = new KeptResults(10);
  expect(kept.shorten("0123456789", ORIGIN)).toBeUndefined();
  expect(kept.isEmpty).toBe(true);
});

test("the oldest results are dropped when all together are too large, and the newest is always kept", async () => {
  const kept = new KeptResults(10);
  for (const letter of ["a", "b", "c"]) kept.shorten(letter.repeat(7 * MEGABYTE), ORIGIN);
  expect(await read(kept, "result-1", 0)).toMatchObject({ isError: true });
  expect(await read(kept, "result-2", 0)).toMatchObject({
    content: [{ text: expect.stringMatching(/^bbbbbbbbbb\n/) }],
  });
  kept.shorten("d".repeat(30 * MEGABYTE), ORIGIN);
  expect(await read(kept, "result-3", 0)).toMatchObject({ isError: true });
  expect(await read(kept, "result-4", 16 * MEGABYTE - 1)).toEqual({ content: [{ type: "text", text: "d" }] });
});

test("ids of a conversation that is continued are not used for other results", async () => {
  const before = new KeptResults(3);
  before.shorten("first", ORIGIN);
  const text = before.shorten("second", ORIGIN) ?? "";
  const result = {
    type: "tool_result",
    id: "c1",
    name: "t",
    isError: false,
    content: [{ type: "text", text }],
  } as const;
  const kept = new KeptResults(3, [{ role: "tool", content: [result] }]);
  expect(await read(kept, "result-2", 0)).toMatchObject({ isError: true });
  expect(kept.shorten("third", ORIGIN)).toContain(`"result-3"`);
});

test("a part never ends with half a character, and the next part begins with it", async () => {
  const kept = new KeptResults(3);
  const text = "ab😀cd";
  expect(kept.shorten(text, ORIGIN)).toMatch(/^ab\n\[Shortened: characters 0 to 2 of 6\./);
  expect(await read(kept, "result-1", 2)).toMatchObject({ content: [{ text: expect.stringMatching(/^😀c\n/) }] });
});
