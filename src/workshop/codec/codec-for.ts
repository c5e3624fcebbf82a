import { NexusError } from "../../errors/nexus-error.ts";
import type { RequestSpec, ToolFile } from "../file/model/tool-file.ts";
import type { Codec } from "./record/codec.ts";
import type { Unknown } from "./record/deviations.ts";
import { formCodec } from "./form/form-codec.ts";
import { jsonCodec } from "./json/json-codec.ts";
import { xmlCodec } from "./xml/xml-codec.ts";

type BodyKind = NonNullable<RequestSpec["body"]>;

/** Prepares the codec of a type; errors in its wire paths are thrown here as CONFIG_INVALID. `unknown` is for JSON. */
export function codecFor(file: ToolFile, type: string, as: BodyKind, unknown?: Unknown): Codec {
  switch (as) {
    case "xml":
      return xmlCodec(file, type);
    case "json":
      return jsonCodec(file, type, unknown);
    case "form":
      return formCodec(file, type);
    case "multipart":
    case "binary":
    case "text":
      throw new NexusError("CONFIG_INVALID", `A body cannot be written or read as ${as} yet`);
  }
}
