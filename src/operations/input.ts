import { NexusError } from "../errors/nexus-error.ts";
import { Form, type AnyForm } from "../format/form.ts";
import { readValue } from "../format/read-form.ts";
import { isRecord } from "../json/is-record.ts";
import type { AnyOperation } from "./operation.ts";

/** A member of a request that is not valid. */
export interface InvalidMember {
  /** `body`, `query` or `path`, and a JSON pointer: `body/allow/0`. */
  at: string;
  message: string;
  /** What to write instead. */
  hint?: string;
}

/** What somebody sent, before it is read. */
export interface GivenInput {
  /** The parameters of the path. */
  params: Readonly<Record<string, string>>;
  /** The members of the query, as text. */
  query?: Readonly<Record<string, unknown>>;
  body?: unknown;
}

const MOST_PROBLEMS = 50;

/** Reads what somebody sent. Throws ARGUMENTS_INVALID with everything that is not valid. */
export function readInput(
  operation: AnyOperation<never, never>,
  given: GivenInput,
  { network }: { network: boolean },
): object {
  const { params, query = {}, body } = given;
  const { input: form, http } = operation;
  const isQuery = http.method === "GET";
  const invalid = [...withNul("path", params), ...withNul("query", query)];
  const read = form ? readPart(form, isQuery ? query : body, { isQuery, network }, invalid) : {};
  const known = new Set(invalid.map(({ at }) => at));
  if (!isQuery && isRecord(body)) invalid.push(...withNul("body", body).filter(({ at }) => !known.has(at)));
  if (invalid.length > 0) throw invalidInput(invalid);
  return { ...read, ...params };
}

export function invalidInput(invalid: readonly InvalidMember[], hint?: string): NexusError {
  const [first] = invalid;
  const more = invalid.length > 1 ? ` (and ${invalid.length - 1} more)` : "";
  return new NexusError("ARGUMENTS_INVALID", `The request is not valid: ${first?.at}: ${first?.message}${more}`, {
    invalid,
    hint: hint ?? "GET /api/v1/openapi.json describes every operation.",
    mayHaveReached: false,
  });
}

interface PartKind {
  isQuery: boolean;
  network: boolean;
}

/** What is not valid is added to the list. */
function readPart(form: AnyForm, given: unknown, { isQuery, network }: PartKind, invalid: InvalidMember[]): object {
  const where = isQuery ? "query" : "body";
  try {
    const reading = { ...(network ? { network } : {}), ...(isQuery ? { asText: true as const } : {}) };
    const { value, problems } = readValue(new Form<unknown>(form.spec, form.traits), given, reading);
    for (const { pointer, message, hint } of problems.slice(0, MOST_PROBLEMS)) {
      invalid.push({ at: `${where}${pointer}`, message, ...(hint === undefined ? {} : { hint }) });
    }
    return isRecord(value) ? value : {};
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    invalid.push({ at: where, message: "is nested too deeply" });
    return {};
  }
}

/** The character U+0000 is in no name, and databases refuse it. */
function withNul(where: string, values: Readonly<Record<string, unknown>>): InvalidMember[] {
  const found = Object.entries(values).filter(([, value]) => typeof value === "string" && value.includes("\0"));
  return found.map(([name]) => ({ at: `${where}/${name}`, message: "contains the character U+0000" }));
}
