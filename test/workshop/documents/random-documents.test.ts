import { expect, test } from "vitest";
import { NexusError } from "../../../src/errors/nexus-error.ts";
import type { ApiFacts, SchemaFacts } from "../../../src/workshop/documents/api-facts.ts";
import { readOpenApi } from "../../../src/workshop/documents/openapi/read-openapi.ts";
import { parseDocument } from "../../../src/workshop/documents/parse-document.ts";
import { readPostman } from "../../../src/workshop/documents/postman/read-postman.ts";
import { isFull } from "../../fixtures/depth.ts";
import { Random, randomDocument } from "./random-documents.ts";

/** More with NEXUS_DOCUMENTS=100000, which takes minutes. */
const DOCUMENTS = Number(process.env["NEXUS_DOCUMENTS"] ?? (isFull ? 2_000 : 1_000));
const MOST_SCHEMAS = 2_000;
const MOST_MS = 5_000;

/** Everything that a draft could ask for. */
function readAll({ operations, omitted }: ApiFacts): number {
  const waiting: SchemaFacts[] = operations.flatMap(({ parameters, body, responses }) => [
    ...parameters.map(({ schema }) => schema),
    ...[...(body?.contents ?? []), ...responses.flatMap(({ contents }) => contents)].flatMap(
      ({ schema }) => schema ?? [],
    ),
    ...responses.flatMap(({ headers }) => headers.map(({ schema }) => schema)),
  ]);
  for (const schema of waiting.slice(-3)) JSON.stringify(schema.asJsonSchema());
  const seen = new Set<string>();
  for (let next = waiting.pop(); next && seen.size < MOST_SCHEMAS; next = waiting.pop()) {
    if (seen.has(next.evidence)) continue;
    seen.add(next.evidence);
    const { items, additional, prefixItems, properties, allOf, oneOf, anyOf, discriminator } = next;
    const inner = [...prefixItems, ...properties.values(), ...allOf, ...oneOf, ...anyOf];
    if (items) inner.push(items);
    if (typeof additional === "function") inner.push(additional);
    waiting.push(...[...inner, ...Object.values(discriminator?.mapping ?? {})].map((read) => read()));
  }
  return operations.length + omitted.length;
}

test(
  `${DOCUMENTS} random documents never crash a reader, and each takes a short time`,
  { timeout: 600_000 + 60 * DOCUMENTS },
  () => {
    let read = 0;
    for (let seed = 1; seed <= DOCUMENTS; seed++) {
      const text = randomDocument(new Random(seed));
      const start = performance.now();
      try {
        const document = parseDocument(text, "random");
        read += readAll(document.format === "postman-2" ? readPostman(document) : readOpenApi(document));
      } catch (error) {
        if (!(error instanceof NexusError)) throw new Error(`document ${seed}: ${text}`, { cause: error });
      }
      const took = performance.now() - start;
      if (took > MOST_MS) throw new Error(`document ${seed} took ${took} ms: ${text}`);
    }
    // Most of them are good enough that something is read.
    expect(read).toBeGreaterThan(DOCUMENTS / 2);
  },
);
