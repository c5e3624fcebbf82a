import { existsSync, readdirSync, readFileSync } from "node:fs";

/** The published schemas and example messages. They lie beside the checkout and are no part of it. */
const SPEC = new URL("../../../shared/spec/", import.meta.url);
const EXAMPLES = new URL("examples-2026-07-28/", SPEC);

export const SPEC_IS_HERE = existsSync(EXAMPLES);

export interface Example {
  /** The definition it conforms to. */
  definition: string;
  name: string;
  value: Record<string, unknown>;
}

/** Every example message of 2026-07-28. */
export function readExamples(): Example[] {
  return readdirSync(EXAMPLES).flatMap((definition) =>
    readdirSync(new URL(`${definition}/`, EXAMPLES)).map((file) => ({
      definition,
      name: file.replace(/\.json$/, ""),
      value: readJson(new URL(`${definition}/${file}`, EXAMPLES)),
    })),
  );
}

export function readSchema(revision: string): Record<string, unknown> {
  return readJson(new URL(`${revision}.schema.json`, SPEC));
}

function readJson(file: URL): Record<string, unknown> {
  return JSON.parse(readFileSync(file, "utf8")) as Record<string, unknown>;
}
