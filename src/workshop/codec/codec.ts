import type { ToolFile } from "../file/tool-file.ts";
import type { Deviation, Unknown } from "./deviations.ts";
import { formCodec } from "./form-codec.ts";
import { jsonCodec } from "./json-codec.ts";
import { xmlCodec } from "./xml-codec.ts";

/** How values of one type look upstream, both ways: what was encoded is decoded to the same value. */
export interface Codec {
  /** Fields that are absent or null are left out; a value that cannot be written is ARGUMENTS_INVALID, naming the field. */
  encode(value: Record<string, unknown>): string;
  /** Throws where the document cannot be read at all; anything less is a deviation. */
  decode(body: Uint8Array | string): Decoded;
}

export interface Decoded {
  /** Lists and constants are always there; other fields only if they were right. */
  value: Record<string, unknown>;
  deviations: Deviation[];
}

/** Works out how a type is written; what is wrong with its wire paths is CONFIG_INVALID here and not later. `unknown` is for JSON. */
export function codecFor(file: ToolFile, type: string, as: "xml" | "json" | "form", unknown?: Unknown): Codec {
  switch (as) {
    case "xml":
      return xmlCodec(file, type);
    case "json":
      return jsonCodec(file, type, unknown);
    case "form":
      return formCodec(file, type);
  }
}
