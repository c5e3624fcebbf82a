import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { isFull } from "../fixtures/depth.ts";
import { readToolFile } from "../../src/workshop/file/read-tool-file.ts";
import { readToolFileOld } from "../fixtures/old-reader/old-reader.ts";

type Path = (string | number)[];

const FILES = [
  "test/fixtures/tool-files/small.nexus.yaml",
  "test/fixtures/tool-files/orders.nexus.yaml",
  "examples/workshop/files.nexus.yaml",
  "examples/workshop/oauth.nexus.yaml",
  "examples/workshop/paging.nexus.yaml",
  "examples/workshop/steps.nexus.yaml",
  "api/museum/museum.nexus.yaml",
].map((path) => parse(readFileSync(path, "utf8")) as unknown);
const PLACES = FILES.map((file) => pathsIn(file).filter((path) => path.length > 0));
const NAMES = [...new Set(PLACES.flat(2).filter((step) => typeof step === "string"))];
const VALUES = FILES.flatMap((file, index) => (PLACES[index] ?? []).map((path) => valueAt(file, path)));

const value = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    true,
    false,
    0,
    -1,
    1.5,
    1e9,
    "",
    " ",
    "x",
    "string",
    "integer",
    [],
    ["x"],
    {},
    { x: 1 },
  ),
  fc.constantFrom<unknown>({ type: "string" }, ["L1"], "L3", "nope#L3", "= input.x", "https://x.example/", "20s", [{}]),
  fc.constantFrom(...VALUES),
);
const damage = fc.record({
  at: fc.nat(),
  kind: fc.constantFrom("set", "set", "remove", "rename", "add"),
  name: fc.oneof(fc.constantFrom(...NAMES), fc.constantFrom("extra", "a b", "1", "true", "and", "Host", "item")),
  value,
});

test("the reader of the forms finds what the one by hand found, and reads the same", () => {
  fc.assert(
    fc.property(fc.nat(FILES.length - 1), fc.array(damage, { minLength: 1, maxLength: 3 }), (index, damages) => {
      let file = FILES[index];
      for (const each of damages) {
        const places = PLACES[index] ?? [];
        file = damaged(file, places[each.at % places.length] ?? [], each);
      }
      const text = stringify(file, { aliasDuplicateObjects: false });
      const [before, after] = [readToolFileOld(text, "x"), readToolFile(text, "x")];
      const found = after.problems.map(({ path, severity }) => `${severity} ${path}`);
      // What cannot be read at all has no mistakes inside, and what is beside it is not compared with it.
      const unread = after.problems.filter(({ message }) => /^must be (a map|a list|text)/.test(message));
      const isUnread = (path: string) =>
        unread.some((each) => {
          const owner = each.path.replace(/[.[][^.[]*$/, "");
          return owner !== each.path && path.startsWith(owner);
        });
      const missing = before.problems.filter(
        ({ path, severity, message }) =>
          !found.includes(`${severity} ${path}`) && !(unread.length > 0 && isConsequence(message)) && !isUnread(path),
      );
      const show = (problems: typeof missing) => problems.map(({ path, message }) => `${path}: ${message}`);
      expect(show(missing), show(after.problems).join("\n")).toEqual([]);
      if (before.file) expect(show(after.problems)).toEqual(show(before.problems));
      expect(JSON.stringify(after.file)).toBe(JSON.stringify(before.file));
    }),
    { numRuns: isFull ? 10_000 : 300 },
  );
}, 3_600_000);

/** Of names that are in a part which could not be read. */
function isConsequence(message: string): boolean {
  return /^there is no "|is never equal/.test(message);
}

function damaged(
  file: unknown,
  path: Path,
  { kind, name, value: given }: { kind: string; name: string; value: unknown },
) {
  const copy = structuredClone(file);
  const owner = valueAt(copy, path.slice(0, -1));
  const target = valueAt(copy, path);
  const key = path.at(-1) ?? "";
  if (typeof owner !== "object" || owner === null) return copy;
  const record = owner as Record<string | number, unknown>;
  if (kind === "set") record[key] = structuredClone(given);
  else if (kind === "add" && typeof target === "object" && target !== null && !Array.isArray(target)) {
    (target as Record<string, unknown>)[name] = structuredClone(given);
  } else if (kind === "remove" && !Array.isArray(owner)) delete record[key];
  else if (kind === "rename" && !Array.isArray(owner)) {
    record[name] = record[key];
    delete record[key];
  }
  return copy;
}

function valueAt(value: unknown, path: Path): unknown {
  let inner = value;
  for (const step of path) {
    if (typeof inner !== "object" || inner === null) return undefined;
    inner = (inner as Record<string | number, unknown>)[step];
  }
  return inner;
}

function pathsIn(inner: unknown, path: Path = []): Path[] {
  if (typeof inner !== "object" || inner === null) return [path];
  return [
    path,
    ...Object.entries(inner).flatMap(([key, member]) =>
      pathsIn(member, [...path, Array.isArray(inner) ? Number(key) : key]),
    ),
  ];
}
