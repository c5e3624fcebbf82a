import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { CATALOG } from "../../src/cli/catalog.ts";

const GOLDEN = fileURLToPath(new URL("../golden/commands", import.meta.url));

/** Commands without a recording, and why. */
const NOT_RECORDED: Record<string, string> = {
  "mcp list": "another name of mcp servers",
  "mcp ls": "another name of mcp servers",
  "new client": "test/cli/new-project.test.ts uses what it makes",
  "new server": "test/cli/new-project.test.ts uses what it makes",
  serve: "it runs until it is ended; test/cli/serve compares what it prints",
};

test("every command has a recording of what it prints for programs, or a reason why not", () => {
  const texts = readdirSync(GOLDEN).map((name) => readFileSync(join(GOLDEN, name), "utf8"));
  const lines = texts.join("\n").split("\n");
  const missing = Object.keys(CATALOG).filter(
    (name) => !lines.some((line) => line === `$ nexus ${name}` || line.startsWith(`$ nexus ${name} `)),
  );
  expect(missing.toSorted()).toEqual(Object.keys(NOT_RECORDED).toSorted());
});
