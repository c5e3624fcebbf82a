import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { readToolFile } from "../file/read-tool-file.ts";
import { compileApi } from "./compile.ts";

/** Shapes, and order of members, that the files do not have. */
const ODD = `nexus: 1
api: odd
title: Odd
version: "1"
upstream: { base: "https://odd.example/", allow: ["https://odd.example/", "https://auth.odd.example/"], timeout: 5s }
secrets:
  signed: { sign: { hmac: { key: k, text: "{method}", headers: { X-S: "{signature}" } } }, query: { a: b }, public: [b] }
  token: { oauth: { tokenUrl: "https://auth.odd.example/t", clientId: c, clientSecret: s, scope: a, client: post } }
settings:
  partner: { maxLength: 5, default: x }
documents:
  manual: { file: manual.md, sha256: "${"0".repeat(64)}" }
types:
  Base: { evidence: L1, additional: string, fields: { a: "integer 1..5 optional [L2] - A" } }
  Wide: { evidence: L3, include: Base, fields: { b: { map: { list: number }, minEntries: 1 }, c: { oneOf: [string, integer] } } }
  Other: { fields: { d: { type: any, schema: { minLength: 1 } }, e: { const: 5, hidden: true } } }
  Both: { oneOf: [Wide, Other], discriminator: { member: kind } }
  In: { fields: { ids: { list: string, nullable: true, readOnly: false }, page: { type: integer, optional: true, writeOnly: true } } }
  Out: { fields: { all: { list: Both }, sum: { type: integer, value: count(all) } }, rules: [{ that: "count(all) > 0", say: none }] }
tools:
  list_odd:
    title: List
    description: Lists.
    effect: read
    meta: { safety: s, owner: o }
    input: In
    request: { method: GET, path: x, query: { ids: { field: ids, style: comma }, page: page, v: { const: 1 } }, headers: { A: { value: today() } }, secrets: signed }
    paging: { page: { to: page, size: 10 }, items: all }
    response: { as: json, type: Out, text: "{sum}", unknown: report }
    errors: [{ say: gone, status: 404, try: t }]
    limits: { retries: 0, download: 1MB }
    evidence: L9
  run_odd:
    title: Run
    description: Runs.
    effect: read
    input: In
    steps: { one: { call: list_odd, arguments: { ids: "= input.ids" } } }
    response: { text: done }
    offer: search
fake: { tools: { list_odd: { answers: [{ when: "true", give: { all: [] } }], refused: { status: 403 } } } }
`;

const FILES = [
  "api/capcorn/capcorn",
  "api/museum/museum",
  "test/fixtures/tool-files/small",
  "test/fixtures/tool-files/orders",
  ...readdirSync("examples/workshop").flatMap((name) =>
    name.endsWith(".yaml") ? [`examples/workshop/${name.replace(".nexus.yaml", "")}`] : [],
  ),
];

test("what was approved stays approved: the hashes of files never change, in either format", async () => {
  const texts = new Map(FILES.map((name) => [name, readFileSync(`${name}.nexus.yaml`, "utf8")]));
  const lines = [...texts, ["odd", ODD] as const].flatMap(([name, text]) => {
    const { file, problems } = readToolFile(text, name);
    if (!file)
      return [
        `${name} ${problems
          .filter(({ severity }) => severity === "error")
          .map(({ path, message }) => `${path}: ${message}`)
          .join("; ")}`,
      ];
    return ([1, 2] as const).map((format) => `${name} ${format} ${compileApi(file, {}, { format }).api.hash}`);
  });
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("../../../test/golden/tool-file-hashes.txt");
});
