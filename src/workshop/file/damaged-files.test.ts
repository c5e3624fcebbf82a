import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { isMap, isPair, isScalar, isSeq, parseDocument, visit } from "yaml";
import { readToolFile } from "./read-tool-file.ts";

const SMALL = readFileSync("test/fixtures/tool-files/small.nexus.yaml", "utf8");

test("whatever is damaged in a file is reported where it is, in words that are kept", async () => {
  const found = placesIn(SMALL).flatMap((place) =>
    ["remove", "number", "list"].map((kind) => {
      const problems = readToolFile(damaged(place, kind), "small.nexus.yaml").problems;
      const lines = problems.map(({ path, message, hint }) => `    ${path}: ${message}${hint ? ` (${hint})` : ""}`);
      return [`${kind} ${place.join(".")}`, ...lines].join("\n");
    }),
  );
  await expect(`${found.join("\n")}\n`).toMatchFileSnapshot("../../../test/golden/damaged-tool-file.txt");
});

function placesIn(text: string): (string | number)[][] {
  const places: (string | number)[][] = [];
  visit(parseDocument(text), (key, node, path) => {
    if (!isScalar(node) && !isMap(node) && !isSeq(node)) return;
    if (key === "key") return;
    const steps = path.flatMap((step, index) => {
      if (isPair(step)) return isScalar(step.key) ? [step.key.value as string | number] : [];
      const inner = path[index + 1] ?? node;
      return isSeq(step) ? [step.items.indexOf(inner)] : [];
    });
    if (steps.length > 0) places.push(steps);
  });
  return places;
}

function damaged(place: readonly (string | number)[], kind: string): string {
  const file = parseDocument(SMALL);
  if (kind === "remove") file.deleteIn(place);
  else file.setIn(place, kind === "number" ? 5 : ["x"]);
  return String(file);
}
