import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

type Legs = Record<string, Record<string, number>>;

const OURS = new URL("expected.json", import.meta.url);
/** The figures of the reference implementation, where the project is developed beside them. */
const REFERENCE = new URL("../../../shared/conformance/expected.json", import.meta.url);

test("the conformance run asks for every scenario in scope, and for no less than the reference gets", () => {
  if (!existsSync(REFERENCE)) return console.log("not compared: the reference figures are not on this machine");
  const reference = legsOf(REFERENCE);

  expect(legsOf(OURS)).toEqual({
    "client all": reference["client all"],
    "client 2025-11-25": reference["client 2025-11-25"],
    "client 2026-07-28": reference["client 2026-07-28"],
    "client 0.1": reference["client 0.1"],
    "server 2025-11-25": reference["server 2025-11-25"],
    "server 2026-07-28": reference["server 2026-07-28"],
    "server 0.1": reference["server 0.1"],
    "server skills": only(reference["server all"], (name) => name.startsWith("sep-2640")),
    "server tasks": only(reference["server all"], (name) => name.startsWith("tasks-")),
  });
});

function legsOf(file: URL): Legs {
  return (JSON.parse(readFileSync(file, "utf8")) as { legs: Legs }).legs;
}

function only(leg: Record<string, number> | undefined, wanted: (name: string) => boolean): Record<string, number> {
  return Object.fromEntries(Object.entries(leg ?? {}).filter(([name]) => wanted(name)));
}
