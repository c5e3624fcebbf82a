import { expect, test } from "vitest";
import { extensionFor, fileStem } from "./content.ts";

test.each([
  ["image/png", "png"],
  ["image/jpeg", "jpg"],
  ["image/svg+xml", "svg"],
  ["audio/mpeg", "mp3"],
  ["application/vnd.api+json; charset=utf-8", "json"],
  ["text/plain", "txt"],
  ["application/x-tar", "tar"],
  ["../../etc/passwd", "bin"],
  [undefined, "bin"],
])("%s is saved as .%s", (mimeType, extension) => {
  expect(extensionFor(mimeType)).toBe(extension);
});

test("a server's names cannot lead out of the folder", () => {
  expect(["../../x", "..", "a/b\\c", "tool:v1", "", ".hidden"].map(fileStem)).toEqual([
    "x",
    "result",
    "a-b-c",
    "tool-v1",
    "result",
    "hidden",
  ]);
});
