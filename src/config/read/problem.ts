import type { ErrorCode } from "../../errors/nexus-error.ts";
import type { Place } from "../../source/source-node.ts";
import type { Origin } from "./server-definition.ts";

/** An error in an entry, before its server and file are known. */
export interface Fault {
  place: Place;
  what: string;
  hint: string | undefined;
  /** Default: CONFIG_INVALID. */
  code?: ErrorCode | undefined;
}

/** Something in a file that is probably a mistake but stops nothing. */
export interface ConfigWarning {
  message: string;
  server?: string | undefined;
  source: Pick<Origin, "file" | "line" | "column">;
}
