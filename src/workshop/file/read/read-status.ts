import type { Part } from "./part.ts";

/** A status of HTTP; none where it is none. */
export function readStatus(part: Part): number[] {
  const status = part.number();
  if (status !== undefined && !(Number.isInteger(status) && status >= 100 && status <= 599)) {
    part.error(`${status} is no status of HTTP`);
  }
  return status === undefined ? [] : [status];
}
