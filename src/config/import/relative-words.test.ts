import { expect, test } from "vitest";
import { looksRelative } from "./relative-words.ts";

test("arguments that are files of the folder are noticed; packages, options and URLs are not", () => {
  expect(looksRelative({ command: "node", args: ["server.js", "--port=1"] })).toEqual(["server.js"]);
  expect(looksRelative({ command: "./run.sh" })).toEqual(["./run.sh"]);
  expect(looksRelative({ command: "files", args: [".", "..", "..."] })).toEqual([".", ".."]);
  expect(looksRelative({ command: "npx", args: ["-y", "@a/b", "https://x/y", "~/a.js", "/b.js"] })).toEqual([]);
  expect(looksRelative({ command: "node", args: ["server.js"], cwd: "/srv" })).toEqual([]);
});
