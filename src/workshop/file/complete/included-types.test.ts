import { expect, test } from "vitest";
import { readToolFile } from "../read-tool-file.ts";

function problemsWith(types: string): string[] {
  const text = `
nexus: 1
api: shop
title: Shop
version: 1.0.0
upstream: { base: "https://api.example/" }
types:
${types}
tools:
  order:
    { title: Order, description: Orders., effect: read, input: Order, request: { method: GET, path: x }, response: { as: none, text: Done. } }
`;
  return readToolFile(text, "shop.nexus.yaml")
    .problems.filter(({ severity }) => severity === "error")
    .map(({ path, message, hint = "" }) => `${path}: ${message} ${hint}`);
}

test.each([
  [
    "that does not exist, with the name that is probably meant",
    "  Base: { fields: {} }\n  Order: { include: Bsae, fields: {} }",
    /^types\.Order\.include.*there is no type "Bsae" Did you mean "Base"\?/,
  ],
  [
    "that includes the type itself over another one",
    "  Base: { include: Order, fields: {} }\n  Order: { include: [Base], fields: {} }",
    /would include itself, without end/,
  ],
  [
    "that is one of several types",
    "  Either: { oneOf: [A, B] }\n  A: { fields: {} }\n  B: { fields: {} }\n  Order: { include: Either, fields: {} }",
    /Either is one of several types and has no fields Include one of them\./,
  ],
])("a type cannot include one %s", (_, types, problem) => {
  expect(problemsWith(types).filter((each) => problem.test(each))).toHaveLength(1);
});
