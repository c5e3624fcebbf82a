import { expect, test } from "vitest";
import { looksRelative } from "./relative-words.ts";

test("arguments that are found in one folder only are noticed; packages, options and addresses are none", () => {
  expect(looksRelative({ command: "node", args: ["server.js", "--port=1"] })).toEqual(["server.js"]);
  expect(looksRelative({ command: "./run.sh" })).toEqual(["./run.sh"]);
  expect(looksRelative({ command: "files", args: [".", "..", "..."] })).toEqual([".", ".."]);
  expect(looksRelative({ command: "npx", args: ["-y", "@a/b", "https://x/y", "~/a.js", "/b.js"] })).toEqual([]);
  expect(looksRelative({ command: "node", args: ["server.js"], cwd: "/srv" })).toEqual([]);
});
