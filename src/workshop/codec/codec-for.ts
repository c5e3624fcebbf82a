import { NexusError } from "../../errors/nexus-error.ts";
import type { RequestSpec, ToolFile } from "../file/model/tool-file.ts";
import type { Codec } from "./record/codec.ts";
import { formCodec } from "./form/form-codec.ts";
import { jsonCodec, type JsonOptions } from "./json/json-codec.ts";
import { xmlCodec } from "./xml/xml-codec.ts";

type BodyKind = NonNullable<RequestSpec["body"]>;

/** Prepares the codec of a type; errors in its wire paths are thrown here as CONFIG_INVALID. `unknown` is for JSON. */
export function codecFor(file: ToolFile, type: string, as: BodyKind, options: JsonOptions = {}): Codec {
  switch (as) {
    case "xml":
      return xmlCodec(file, type, options.side);
    case "json":
      return jsonCodec(file, type, options);
    case "form":
      return formCodec(file, type, options.side);
    case "multipart":
    case "binary":
    case "text":
      throw new NexusError("CONFIG_INVALID", `A body cannot be written or read as ${as} yet`);
  }
}
