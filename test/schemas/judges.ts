import * as core from "@modelcontextprotocol/core";
import { Ajv, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import { isRecord } from "../../src/json/is-record.ts";
import { readSchema } from "./spec.ts";

/** Says what is wrong with a value that should conform to a definition; nothing if it does. */
export interface Judge {
  /** What it lacks, the revision lacks. */
  readonly isComplete: boolean;
  has(definition: string): boolean;
  complaint(definition: string, value: unknown): string | undefined;
}

/** The published JSON Schema of one revision. Formats are not checked: the schemas name ones that nobody defines. */
export class SpecJudge implements Judge {
  readonly isComplete = true;
  readonly #ajv: Ajv | Ajv2020;
  readonly #place: "$defs" | "definitions";
  readonly #definitions: Record<string, unknown>;
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(revision: string) {
    const schema = readSchema(revision);
    this.#place = "$defs" in schema ? "$defs" : "definitions";
    const options = { strict: false, validateFormats: false };
    this.#ajv = this.#place === "$defs" ? new Ajv2020(options) : new Ajv(options);
    this.#ajv.addSchema(schema, "mcp");
    this.#definitions = schema[this.#place] as Record<string, unknown>;
  }

  has(definition: string): boolean {
    return Object.hasOwn(this.#definitions, definition);
  }

  /** The names in a definition that is a choice, as `ClientRequest` is. */
  choices(definition: string): string[] {
    const found = this.#definitions[definition];
    const choices: unknown = isRecord(found) ? found["anyOf"] : undefined;
    if (!Array.isArray(choices)) return [];
    return choices.filter(isRecord).map(({ $ref }) => String($ref).replace(/^.*\//, ""));
  }

  complaint(definition: string, value: unknown): string | undefined {
    let validate = this.#validators.get(definition);
    if (!validate) {
      validate = this.#ajv.compile({ $ref: `mcp#/${this.#place}/${definition}` });
      this.#validators.set(definition, validate);
    }
    return validate(value) ? undefined : this.#ajv.errorsText(validate.errors);
  }
}

interface ZodSchema {
  safeParse(value: unknown): { success: boolean; error?: { message: string } };
}

/** The official SDK's schemas, which are those of all revisions in one. */
export class SdkJudge implements Judge {
  /** It keeps a few definitions to itself, and its unions leave out the tasks of 2025-11-25. */
  readonly isComplete = false;

  has(definition: string): boolean {
    return this.#find(definition) !== undefined;
  }

  complaint(definition: string, value: unknown): string | undefined {
    const found = this.#find(definition)?.safeParse(value);
    return found === undefined || found.success ? undefined : (found.error?.message ?? "not valid");
  }

  #find(definition: string): ZodSchema | undefined {
    // It has two of these; the specification's is the one with tools.
    const name = definition === "CreateMessageResult" ? "CreateMessageResultWithTools" : definition;
    const found: unknown = (core as Record<string, unknown>)[`${name}Schema`];
    return isRecord(found) && "safeParse" in found ? (found as unknown as ZodSchema) : undefined;
  }
}
