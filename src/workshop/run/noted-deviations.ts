import { isRecord } from "../../json/is-record.ts";
import type { Deviation } from "../codec/record/deviations.ts";
import type { RequestToolSpec, Shape, ToolFile } from "../file/model/tool-file.ts";
import { findType } from "../shape/shape-parts.ts";
import { toldDeviation } from "./call-result.ts";
import type { Success } from "./response-reader.ts";
import type { RunnerParts } from "./runner-parts.ts";
import type { HiddenValues } from "../../masking/hidden-values.ts";

/** A large answer has the same members in all its items. */
const MOST_RECORDS = 2_000;
const MOST_KEPT = 200;

/** Reports how an answer differs from the file to the one who keeps the file. */
export function noteDifferences(
  { onDeviations }: Pick<RunnerParts, "onDeviations">,
  tool: string,
  differences: readonly Record<string, string>[],
): void {
  if (differences.length > 0) onDeviations?.(tool, differences);
}

/**
 * How an answer differs from the file. Unknown members that are kept in the result are no deviation for callers, but
 * something that the file could name.
 */
export function differencesOf(
  { file, spec: { response }, hidden }: { file: ToolFile; spec: RequestToolSpec; hidden: HiddenValues },
  { value, deviations }: Pick<Success, "value" | "deviations">,
): Record<string, string>[] {
  const isKept = response.unknown === "keep" && response.type !== undefined;
  const kept = isKept ? new KeptMembers(file).in(response.type ?? "", value) : [];
  return [...deviations, ...kept].map((deviation) => toldDeviation(deviation, hidden));
}

/** Finds the members of a value that its type does not have. Which alternative of a union has them is not decided. */
class KeptMembers {
  readonly #file: ToolFile;
  readonly #found: Deviation[] = [];
  #records = 0;

  constructor(file: ToolFile) {
    this.#file = file;
  }

  in(type: string, value: unknown): Deviation[] {
    this.#object(type, value, "");
    return this.#found;
  }

  #object(type: string, value: unknown, path: string): void {
    const spec = findType(this.#file, type);
    if (!spec || spec.union || !isRecord(value) || ++this.#records > MOST_RECORDS) return;
    for (const name of Object.keys(value)) {
      if (Object.hasOwn(spec.fields, name)) {
        this.#value(spec.fields[name]?.shape, value[name], path === "" ? name : `${path}.${name}`);
      } else if (!spec.additional && this.#found.length < MOST_KEPT) {
        const place = path === "" ? name : `${path}/${name}`;
        this.#found.push({ path: place, problem: "unknown member", received: kindText(value[name]) });
      }
    }
  }

  #value(shape: Shape | undefined, value: unknown, path: string): void {
    if (shape?.kind === "object") this.#object(shape.type, value, path);
    if (shape?.kind !== "list" || !Array.isArray(value)) return;
    for (const [index, item] of (value as unknown[]).entries()) this.#value(shape.of, item, `${path}[${index}]`);
  }
}

/** Enough of the value to see its kind: a text is quoted, so that one of digits is not taken for a number. */
function kindText(value: unknown): string {
  if (typeof value === "string") return '""';
  if (Array.isArray(value)) return "[]";
  return isRecord(value) ? "{}" : String(value);
}
