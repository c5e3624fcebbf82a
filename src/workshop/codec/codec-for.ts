import type { RequestSpec, ToolFile } from "../file/model/tool-file.ts";
import type { Codec } from "./record/codec.ts";
import { formCodec } from "./form/form-codec.ts";
import { jsonCodec, type JsonOptions } from "./json/json-codec.ts";
import { xmlCodec } from "./xml/xml-codec.ts";

/** `unknown` is for JSON, `parts` for forms. */
interface CodecOptions extends JsonOptions {
  parts?: RequestSpec["parts"] | undefined;
}

/** Prepares the codec of a type; errors in its wire paths are thrown here as CONFIG_INVALID. */
export function codecFor(file: ToolFile, type: string, as: "xml" | "json" | "form", options: CodecOptions = {}): Codec {
  switch (as) {
    case "xml":
      return xmlCodec(file, type, options.side);
    case "json":
      return jsonCodec(file, type, options);
    case "form":
      return formCodec(file, type, options);
  }
}
