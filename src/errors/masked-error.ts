import type { HiddenValues } from "../masking/hidden-values.ts";
import { NexusError } from "./nexus-error.ts";

/** Details that an error has by itself; no hidden value can be in them. */
const OWN_DETAILS: ReadonlySet<string> = new Set(["server", "phase", "method", "signal", "source"]);

/** The same error with the values masked in all its parts. */
export function maskError(hidden: HiddenValues, error: NexusError): NexusError {
  if (hidden.isEmpty) return error;
  const { cause, ...details } = error.details;
  const shown = Object.entries(details).map(([key, value]) => {
    return [key, OWN_DETAILS.has(key) ? value : hidden.inAll(value)] as const;
  });
  const masked = new NexusError(error.code, hidden.in(error.message), {
    ...(Object.fromEntries(shown) as NexusError["details"]),
    ...(cause === undefined ? {} : { cause: maskCause(hidden, cause) }),
  });
  if (error.stack) masked.stack = hidden.in(error.stack);
  return masked;
}

/** The code of a cause is kept, because programs often read it. */
function maskCause(hidden: HiddenValues, cause: unknown): unknown {
  if (cause instanceof NexusError) return maskError(hidden, cause);
  if (!(cause instanceof Error)) return hidden.inAll(cause);
  const masked = new Error(hidden.in(cause.message));
  masked.name = cause.name;
  if (cause.stack) masked.stack = hidden.in(cause.stack);
  return "code" in cause ? Object.assign(masked, { code: cause.code }) : masked;
}
