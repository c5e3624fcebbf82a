import type { ErrorCode } from "../../errors/nexus-error.ts";
import type { Place } from "../../source/source-node.ts";
import type { Origin } from "./server-definition.ts";

/** Something wrong in an entry, before it is known whose and in which file. */
export interface Fault {
  place: Place;
  what: string;
  hint: string;
  /** CONFIG_INVALID, unless it is something else. */
  code?: ErrorCode | undefined;
}

/** Something in a file that is probably a mistake, and stops nothing. */
export interface ConfigWarning {
  message: string;
  server?: string | undefined;
  source: Pick<Origin, "file" | "line" | "column">;
}
