import { messageOf, NexusError } from "../../errors/nexus-error.ts";

const PG_HINT = "Check that PostgreSQL runs and that its address and password are right, then try again.";

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

/** Codes in errors of Node's SQLite, of libsql, and of PostgreSQL or the system. */
interface SystemCodes {
  errcode?: unknown;
  rawCode?: unknown;
  code?: unknown;
  syscall?: unknown;
}

/** All references are to tenants: the row belongs to one that does not exist, or that still has rows. */
const UNKNOWN_REFERENCE = { sqlite: 787, postgres: "23503" };

/**
 * Deno's errors of opening a file and of statements without a result have SQLite's fixed words and no number. Result
 * codes and the words that such an error begins with.
 */
const SQLITE_WORDS: readonly (readonly [code: number, words: string])[] = [
  [5, "database is locked"],
  [6, "database table is locked"],
  [6, "database schema is locked"],
  [8, "attempt to write a readonly database"],
  [10, "disk I/O error"],
  [11, "database disk image is malformed"],
  [13, "database or disk is full"],
  [14, "unable to open database file"],
  [26, "file is not a database"],
  [UNKNOWN_REFERENCE.sqlite, "FOREIGN KEY constraint failed"],
];

/** The extended result code of a SQLite error; undefined for other errors. */
function extendedCode(error: unknown): number | undefined {
  const { errcode, rawCode, code } = (error ?? {}) as SystemCodes;
  const number = errcode ?? rawCode;
  if (typeof number === "number") return number;
  if (code !== "ERR_SQLITE_ERROR") return undefined;
  const message = messageOf(error);
  return SQLITE_WORDS.find(([, words]) => message.startsWith(words))?.[0];
}

/** The primary result code of a SQLite error; undefined for other errors. */
export function sqliteCode(error: unknown): number | undefined {
  const code = extendedCode(error);
  return code === undefined ? undefined : code & 0xff;
}

/** Primary result codes: another process, or another connection, has the lock. */
export const LOCKED: ReadonlySet<number | undefined> = new Set([5, 6]);

export function isDamage(error: unknown): boolean {
  const cause = error instanceof NexusError ? error.cause : error;
  return DAMAGED_FILE.has(sqliteCode(cause) ?? 0);
}

/** Another process may remove a tenant at any moment, also while its servers run. */
function unknownReference(cause: unknown): NexusError {
  return new NexusError("NAME_UNKNOWN", "The tenant does not exist", {
    hint: `It may have been removed meanwhile. "{listTenants}" lists all tenants.`,
    cause,
    mayHaveReached: false,
  });
}

export function isUnknownReference(error: unknown): boolean {
  const cause = error instanceof NexusError ? error.cause : error;
  const { code } = (cause ?? {}) as SystemCodes;
  return extendedCode(cause) === UNKNOWN_REFERENCE.sqlite || code === UNKNOWN_REFERENCE.postgres;
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
  if (isUnknownReference(error)) return unknownReference(error);
  const hint = SQLITE_HINTS.get(sqliteCode(error) ?? 0);
  return hint === undefined ? error : storeUnavailable(shown, error, hint);
}

/**
 * SQLSTATE classes of temporary failures: connection, resources, a lock that was not released in time, shutdown,
 * serialization, read-only after a failover.
 */
const TEMPORARY = /^(?:08|53|55P03|57|58|40|25006)/;
/** SQLSTATE classes that a person has to do something about, with what to do. */
const MISCONFIGURED: readonly { state: RegExp; hint: string }[] = [
  { state: /^(?:28|3D)/, hint: "Check the user, the password and the database in the address." },
  {
    state: /^(?:3F|42501)/,
    hint: "Nexus needs a user that may create tables: GRANT CREATE, USAGE ON SCHEMA public TO the user, or use a database that the user owns.",
  },
];
const CERTIFICATE = /CERT|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/;

/** Translates an error of PostgreSQL or of the connection to it. */
export function postgresFailure(shown: string, error: unknown): unknown {
  const { code, syscall } = (error ?? {}) as SystemCodes;
  if (isUnknownReference(error)) return unknownReference(error);
  const text = typeof code === "string" ? code : "";
  // Codes of the system, such as EPIPE, can look like a SQLSTATE.
  const isState = syscall === undefined && /^[0-9A-Z]{5}$/.test(text);
  if (isState && !TEMPORARY.test(text)) {
    const hint = MISCONFIGURED.find(({ state }) => state.test(text))?.hint;
    return hint === undefined ? error : refused(shown, error, hint);
  }
  if (CERTIFICATE.test(text)) {
    return refused(shown, error, "Add the certificate of its authority to the address: ?sslrootcert=FILE");
  }
  if (syscall === "open") {
    return refused(shown, error, "Check the files that sslrootcert, sslcert and sslkey name in the address.");
  }
  // Other errors without a SQLSTATE are errors of the connection.
  return storeUnavailable(shown, error);
}

function refused(shown: string, error: unknown, hint: string): NexusError {
  return storeUnusable(`The database ${shown} cannot be used: ${messageOf(error)}`, hint, error);
}
