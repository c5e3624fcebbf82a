import { messageOf, NexusError } from "../../errors/nexus-error.ts";

const PG_HINT = "Check that PostgreSQL runs and that its address is right, then try again.";

/** The database is not reachable, whatever the engine's own error is. A later attempt may succeed. */
export function storeUnavailable(shown: string, cause: unknown, hint = PG_HINT): NexusError {
  return new NexusError("STORE_UNAVAILABLE", `The database ${shown} is not available: ${messageOf(cause)}`, {
    hint,
    cause,
  });
}

/** The database cannot be used until a person changes something. */
export function storeUnusable(message: string, hint: string, cause?: unknown): NexusError {
  return new NexusError("CONFIG_INVALID", message, { phase: "config", hint, cause, mayHaveReached: false });
}

/** Hints for result codes of SQLite. */
const SQLITE_HINTS: ReadonlyMap<number, string> = new Map([
  [5, "Another process is writing to it for too long. Try again."],
  [6, "Another process is writing to it for too long. Try again."],
  [8, "Make the file and its folder writable for the user that runs Nexus."],
  [10, "The disk reported an error. Check the disk and its file system."],
  [13, "The disk is full. Free some space and try again."],
  [14, "Make the file and its folder readable and writable for the user that runs Nexus."],
]);

const DAMAGED_FILE: ReadonlySet<number> = new Set([11, 26]);

/** The primary result code of a SQLite error; undefined for other errors. */
export function sqliteCode(error: unknown): number | undefined {
  const { errcode, rawCode } = (error ?? {}) as { errcode?: unknown; rawCode?: unknown };
  const code = errcode ?? rawCode;
  return typeof code === "number" ? code & 0xff : undefined;
}

export function isDamage(error: unknown): boolean {
  const cause = error instanceof NexusError ? error.cause : error;
  return DAMAGED_FILE.has(sqliteCode(cause) ?? 0);
}

/** Translates a SQLite error. Errors that are caused by neither damage nor the system are bugs and stay unchanged. */
export function sqliteFailure(shown: string, error: unknown): unknown {
  if (isDamage(error)) {
    return storeUnusable(
      `The database ${shown} is damaged, or is not a database: ${messageOf(error)}`,
      `Run "nexus store check". Restore a backup: nexus store restore FILE --database NEW-FILE`,
      error,
    );
  }
  const hint = SQLITE_HINTS.get(sqliteCode(error) ?? 0);
  return hint === undefined ? error : storeUnavailable(shown, error, hint);
}

/** SQLSTATE classes of temporary failures: connection, resources, shutdown, serialization, read-only after a failover. */
const TEMPORARY = /^(?:08|53|57|58|40|25006)/;
const MISCONFIGURED = /^(?:28|3D|3F|42501)/;

/** Translates an error of PostgreSQL or of the connection to it. */
export function postgresFailure(shown: string, error: unknown): unknown {
  const { code } = (error ?? {}) as { code?: unknown };
  const state = typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
  // Errors without a SQLSTATE are errors of the connection.
  if (state === undefined || TEMPORARY.test(state)) return storeUnavailable(shown, error);
  if (!MISCONFIGURED.test(state)) return error;
  return storeUnusable(
    `The database ${shown} refused the connection: ${messageOf(error)}`,
    "Check the user, the password and the database in the address.",
    error,
  );
}
