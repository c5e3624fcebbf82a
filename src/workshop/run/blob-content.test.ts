import { expect, test } from "vitest";
import { blobContent } from "./told-answer.ts";

test("X5: a file that cannot be kept is named in the result", () => {
  const blob = { bytes: Buffer.alloc(10), contentType: "application/zip" };
  const [content, ...more] = blobContent(blob, { tool: "get_file", maxBytes: 5, keep: () => undefined });
  expect(more).toEqual([]);
  expect(content).toMatchObject({ type: "text", text: expect.stringContaining("application/zip, 10 bytes") });
});
