import type { Origin } from "./server-definition.ts";

/** Something in a file that is probably a mistake, and stops nothing. */
export interface ConfigWarning {
  message: string;
  server?: string | undefined;
  source: Pick<Origin, "file" | "line" | "column">;
}
