import { expect, test } from "vitest";
import type { ModelMessage } from "../model/model-message.ts";
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
  expect(kept.isNamed).toBe(false);
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

/** A message with the results of one call. */
function resultMessage(text: string): ModelMessage {
  const content = [{ type: "text", text }] as const;
  return { role: "tool", content: [{ type: "tool_result", id: "c1", name: "t", isError: false, content }] };
}

test("a conversation may name any number of results", () => {
  const names = `read_result {"id":"result-7","offset":1}\n`.repeat(200_000);
  const kept = new KeptResults(3, [resultMessage(names)]);
  expect(kept.shorten("next", ORIGIN)).toContain(`"result-8"`);
});

test("ids of a conversation that is continued are not used for other results", async () => {
  const before = new KeptResults(3);
  before.shorten("first", ORIGIN);
  const text = before.shorten("second", ORIGIN) ?? "";
  const kept = new KeptResults(3, [resultMessage(text)]);
  expect(kept.isNamed).toBe(true);
  expect(await read(kept, "result-2", 0)).toMatchObject({ isError: true });
  expect(kept.shorten("third", ORIGIN)).toContain(`"result-3"`);
});

test("a part never ends with half a character, and the next part begins with it", async () => {
  const kept = new KeptResults(3);
  const text = "ab😀cd";
  expect(kept.shorten(text, ORIGIN)).toMatch(/^ab\n\[Shortened: characters 0 to 2 of 6\./);
  expect(await read(kept, "result-1", 2)).toMatchObject({ content: [{ text: expect.stringMatching(/^😀c\n/) }] });
});
