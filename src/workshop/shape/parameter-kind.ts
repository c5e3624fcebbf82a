import type { Shape, ToolFile } from "../file/model/tool-file.ts";
import { findType } from "./shape-parts.ts";

/** What a parameter holds, as far as styles are concerned. */
export type ParameterKind = "single" | "list" | "object";

/** The kind of a shape; undefined if only JSON can express it. */
export function kindOfParameter(file: ToolFile, shape: Shape): ParameterKind | undefined {
  switch (shape.kind) {
    case "scalar":
      return "single";
    case "list":
      return "list";
    case "map":
      return "object";
    case "object": {
      const union = findType(file, shape.type)?.union;
      return union ? kindOfParameter(file, union) : "object";
    }
    case "union":
      return shape.of.every((each) => kindOfParameter(file, each) === "single") ? "single" : undefined;
    case "any":
      return undefined;
  }
}
