import { readdir, readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { parse, type ParseError } from "jsonc-parser";
import { expect, test } from "vitest";
import { examples } from "../../test/fixtures/depth.ts";
import { jsonSchema } from "../format/json-schema.ts";
import { readValue } from "../format/read-form.ts";
import { HOST_ENTRY } from "../transport/entry-form.ts";
import { CONFIG } from "./config-form.ts";

const ajv = new Ajv2020({ allErrors: true, strict: false });
const isConfig = ajv.compile(jsonSchema(CONFIG));
const isEntry = ajv.compile(jsonSchema(HOST_ENTRY));

const GUIDES = fileURLToPath(new URL("../../docs/guide", import.meta.url));

test("N14: every configuration that the guides show fits its schema", async () => {
  const files = (await readdir(GUIDES)).filter((name) => name.endsWith(".md"));
  const texts = await Promise.all(files.map((name) => readFile(`${GUIDES}/${name}`, "utf8")));
  const shown = texts.flatMap((text) => [...text.matchAll(/```jsonc?\n([^]*?)```/g)].map(([, json = ""]) => json));
  const configurations = shown.flatMap((json) => {
    const errors: ParseError[] = [];
    const value: unknown = parse(json, errors, { allowTrailingComma: true });
    const isOne = /^\s*\{\s*(?:\/\/.*\s*)*"(?:mcpServers|gateway|network|models|context)":/.test(json);
    return isOne && errors.length === 0 ? [value] : [];
  });
  expect(configurations.length).toBeGreaterThanOrEqual(10);
  for (const configuration of configurations) {
    expect(isConfig(configuration), JSON.stringify([configuration, isConfig.errors])).toBe(true);
  }
});

test.each([
  { mcpServers: { a: { command: 5 } } },
  { mcpServers: { a: { command: "node", args: "server.js" } } },
  { mcpServers: { a: { url: "https://example.com", oauth: { clientID: "a" } } } },
  { servers: { a: { command: "node", timeout: "soon" } } },
  { servers: { a: { command: "node", isolation: "none" } } },
  { gateway: { audit: { onFailure: "shut" } } },
  { gateway: { limits: { process: 2 } } },
  { models: { providers: { local: { type: "ollama" } } } },
])("the schema finds the mistake in %j", (configuration) => {
  expect(isConfig(configuration)).toBe(false);
});

test("the schema of an entry and its reader accept the same entries", () => {
  const { spec } = HOST_ENTRY;
  const names = spec.kind === "record" ? Object.keys(spec.members) : [];
  const texts = ["30s", "512MB", "stdio", "owner", "gh", "a", "", "80"];
  const lists = [["a"], ["a", 1], [], [{ uri: "file:///a" }]];
  const objects = [{}, { allow: ["a"] }, { clientId: "a", scope: "b" }, { A: "b" }, { A: 1 }, { uri: "file:///a" }];
  const provider = { issuer: "a", clientId: "b", idToken: "c" };
  const likely: unknown[] = [
    ...texts,
    ...lists,
    ...objects,
    { identityProvider: provider },
    true,
    false,
    -1,
    0,
    1,
    2.5,
  ];
  const value = fc.oneof(fc.constantFrom(...likely), fc.jsonValue({ maxDepth: 2 }), fc.string({ maxLength: 3 }));
  fc.assert(
    fc.property(fc.constantFrom(...names), value, (name, given) => {
      // Null counts as absent, a variable in braces can be anything, and JSON's 1e-7 is not a number that people write.
      fc.pre(given !== null && !/\$\{|\de[+-]|\d{16}/.test(JSON.stringify(given)));
      const written = { [name]: given };
      const { problems } = readValue(HOST_ENTRY, written);
      expect([written, isEntry(written)]).toEqual([written, problems.length === 0]);
    }),
    { numRuns: examples(5_000) },
  );
});
