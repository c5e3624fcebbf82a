import type { ToolFile } from "../../file/model/tool-file.ts";
import type { Unknown } from "../record/deviations.ts";
import { type Notation, Planner, type Side } from "../record/planner.ts";
import { MEMBERS } from "./member-path.ts";
import { QuickDecoder } from "./quick-decoder.ts";
import { valueCodec } from "./value-codec.ts";

/** JSON also has maps, unions, null and any values. */
const JSON_NOTATION: Notation = { ...MEMBERS, value: valueCodec };

/**
 * How the types of one file are read and written as JSON. All tools share it: in a large API most of them have the same
 * types, and planning these for each tool would take longer than reading the file.
 */
class FilePlans {
  readonly #file: ToolFile;
  readonly #planners = new Map<Side, Planner>();
  readonly #decoders = new Map<Unknown, QuickDecoder>();

  constructor(file: ToolFile) {
    this.#file = file;
  }

  planner(side: Side): Planner {
    const known = this.#planners.get(side) ?? new Planner(this.#file, JSON_NOTATION, side);
    this.#planners.set(side, known);
    return known;
  }

  /** For answers. */
  quickDecoder(unknown: Unknown): QuickDecoder {
    const known = this.#decoders.get(unknown) ?? new QuickDecoder(this.#file, unknown);
    this.#decoders.set(unknown, known);
    return known;
  }
}

const plans = new WeakMap<ToolFile, FilePlans>();

export function filePlans(file: ToolFile): FilePlans {
  const known = plans.get(file) ?? new FilePlans(file);
  plans.set(file, known);
  return known;
}
