import { expect, test } from "vitest";
import type { Candidate } from "../../config/read/places.ts";
import { newEntry } from "./new-entry.ts";

const user: Candidate = { file: "/home/u/.nexus/mcp.json", layer: "user", folder: "/home/u/work/project" };
const project: Candidate = { file: "/home/u/work/project/.mcp.json", layer: "project", folder: "/home/u/work/project" };

const posix = test.skipIf(process.platform === "win32");

posix("a folder is absolute in the user's file, and relative in the project's, which others have elsewhere", () => {
  const cwdIn = (target: Candidate, cwd: string) =>
    newEntry("a", ["x"], { cwd, target, from: "/home/u/work/project" }).cwd;
  expect(cwdIn(user, "sub")).toBe("/home/u/work/project/sub");
  expect(cwdIn(project, "sub")).toBe("sub");
  expect(cwdIn(project, ".")).toBe(".");
  expect(cwdIn(project, "../other")).toBe("/home/u/work/other");
  expect(cwdIn(project, "~/notes")).toBe("~/notes");
});

test("an entry has the given values and nothing else", () => {
  const options = { target: user, from: "/home/u/work/project" };
  expect(newEntry("a", ["npx", "-y", "b c"], { ...options, env: ["K=v=w"] })).toEqual({
    command: "npx",
    args: ["-y", "b c"],
    env: { K: "v=w" },
  });
  expect(newEntry("a", [], { ...options, stdio: `node "a b.js"` })).toEqual({ command: "node", args: ["a b.js"] });
  expect(newEntry("a", [], { ...options, url: "https://${HOST}/mcp", header: ["X: y: z"], disabled: true })).toEqual({
    url: "https://${HOST}/mcp",
    headers: { X: "y: z" },
    enabled: false,
  });
});

posix(
  "a root is a folder or a file URI; an empty word, of a variable that is not set, is not the working folder",
  () => {
    const rootsOf = (...root: string[]) =>
      newEntry("a", ["x"], { root, target: user, from: "/home/u/work/project" }).roots;
    expect(rootsOf(".", "~/notes", "file:///home/u/a%20b")).toEqual([
      "/home/u/work/project",
      "~/notes",
      "file:///home/u/a%20b",
    ]);
    expect(() => rootsOf("")).toThrow("--root is empty");
    for (const root of ["https://x", "file:relative", "file://host/x", "file:///etc%00"]) {
      expect(() => rootsOf(root), root).toThrow(`--root "${root}" is not a folder`);
    }
  },
);

posix("a tool file stands where a folder would: relative in the project's file, absolute in the user's", () => {
  const entryIn = (target: Candidate) =>
    newEntry("a", [], { api: "/home/u/work/project/a.nexus.yaml", upstream: "fake", target, from: "/home/u" });
  expect(entryIn(project)).toEqual({ api: "a.nexus.yaml", upstream: "fake" });
  expect(entryIn(user)).toEqual({ api: "/home/u/work/project/a.nexus.yaml", upstream: "fake" });
});

test.each([
  [{ api: "a.nexus.yaml", url: "http://a/" }, "--url and --api cannot be used together"],
  [{ api: "a.nexus.yaml", cwd: "." }, "--cwd requires a command"],
  [{ api: "a.nexus.yaml", header: ["A: b"] }, "--header and --env require a server"],
  [{ url: "http://a/", upstream: "fake" }, "--upstream requires --api"],
  [{}, "The command or URL of"],
])("P1.9: what does not go together is not written: %j", (options, message) => {
  expect(() => newEntry("a", [], { ...options, target: user, from: "/home/u" })).toThrow(message);
});
