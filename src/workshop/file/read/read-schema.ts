import { Ajv2020 } from "ajv/dist/2020.js";
import { messageOf } from "../../../errors/nexus-error.ts";
import { isRecord } from "../../../json/is-record.ts";
import { linearPattern } from "../../pattern/linear-pattern.ts";
import type { Part } from "../../../format/part.ts";

const MAX_BYTES = 64 * 1024;
/** A schema that refers to others cannot be moved into the schema of a tool. */
const REFERRING = new Set(["$ref", "$dynamicRef", "$id", "$anchor", "$dynamicAnchor", "$recursiveRef", "$schema"]);

/** A JSON Schema that is passed on unchanged. */
export function readSchema(part: Part): Record<string, unknown> | undefined {
  if (!part.isThere) return undefined;
  const schema = part.record();
  if (!part.isMap) return undefined;
  const keyword = referringIn(schema);
  if (keyword !== undefined) {
    part.error(`${keyword} cannot be used here`, "Write the schema out, or describe the value with types.");
  } else if (Buffer.byteLength(JSON.stringify(schema)) > MAX_BYTES) {
    part.error(`is larger than ${MAX_BYTES / 1024} kB`, "Describe the value with types, or leave the schema out.");
  } else {
    const problem = problemOf(schema);
    if (problem !== undefined) part.error(`is not a JSON Schema (2020-12): ${problem}`);
  }
  return schema;
}

function referringIn(value: unknown): string | undefined {
  if (Array.isArray(value)) return firstOf(value);
  if (!isRecord(value)) return undefined;
  const own = Object.keys(value).find((key) => REFERRING.has(key) && typeof value[key] === "string");
  return own ?? firstOf(Object.values(value));
}

function firstOf(values: readonly unknown[]): string | undefined {
  for (const value of values) {
    const found = referringIn(value);
    if (found !== undefined) return found;
  }
  return undefined;
}

function problemOf(schema: object): string | undefined {
  const regExp = Object.assign((source: string) => ({ ...linearPattern(source), test: () => true }), {
    code: "linear",
  });
  const ajv = new Ajv2020({ strict: false, logger: false, validateFormats: false, code: { regExp } });
  try {
    ajv.compile(schema);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
