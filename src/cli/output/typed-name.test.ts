import { expect, test } from "vitest";
import { typedName, withTypedName, type ProgramStart } from "./typed-name.ts";

const INSTALLED: ProgramStart = { script: "/usr/bin/nexus", cwd: "/home/ann", npmCommand: undefined };
const MAIN = "/home/ann/nexus/dist/cli/main.js";

test.each<[string, Partial<ProgramStart>, string]>([
  ["installed, from PATH", {}, "nexus"],
  ["in a clone", { script: MAIN, cwd: "/home/ann/nexus" }, "node dist/cli/main.js"],
  ["in a folder of a clone", { script: MAIN, cwd: "/home/ann/nexus/docs" }, "node ../dist/cli/main.js"],
  ["of a clone, in a folder beside it", { script: MAIN, cwd: "/home/ann/nexus-notes" }, "nexus"],
  ["linked, in its clone", { cwd: "/home/ann/nexus" }, "nexus"],
  ["by npx, in a project", { script: "/p/node_modules/.bin/nexus", cwd: "/p", npmCommand: "exec" }, "npx nexus"],
  ["by npx, fetched", { script: "/n/_npx/1f/node_modules/.bin/nexus", npmCommand: "exec" }, "npx nexus-mcp"],
  ["installed, below npx", { npmCommand: "exec" }, "nexus"],
])("commands in messages work where the program was started %s", (_how, started, name) => {
  expect(typedName({ ...INSTALLED, ...started })).toBe(name);
});

test.each([
  ['Run "nexus mcp doctor a", or nexus --help.', 'Run "npx nexus mcp doctor a", or npx nexus --help.'],
  ["Usage: nexus <command> [options]", "Usage: npx nexus <command> [options]"],
  ["nexus 0.1.0 – one program; ~/.nexus is a folder", "nexus 0.1.0 – one program; ~/.nexus is a folder"],
  ["node /srv/nexus serve", "node /srv/nexus serve"],
  ["12 tools from nexus in 1.7 s, nexus model", "12 tools from nexus in 1.7 s, nexus model"],
])("only commands of the program get the typed name: %s", (text, typed) => {
  expect(withTypedName(text, "npx nexus")).toBe(typed);
});
