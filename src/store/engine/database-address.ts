import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { toAbsolutePath } from "../../files/paths.ts";

/**
 * The address of a database. `shown` is for messages and never contains a password. `isOwnFolder`: the folder of the file is Nexus's own
 * and may be created; in any other path a folder that does not exist is probably mistyped.
 */
export type DatabaseAddress =
  | { kind: "sqlite"; file: string; shown: string; isOwnFolder?: boolean }
  | { kind: "postgres"; url: string; shown: string };

/** The folders for relative paths and `~`. */
export interface AddressBase {
  home: string;
  base: string;
}

/** Parses a `file:` address, a path or `postgres://…`; undefined for anything else. */
export function parseDatabaseAddress(text: string, base: AddressBase): DatabaseAddress | undefined {
  if (/^postgres(?:ql)?:\/\//i.test(text)) return postgresAddress(text);
  if (/^file:\/\//i.test(text)) return fileAddress(text);
  const path = text.replace(/^file:/i, "");
  // A single letter with a colon is a drive on Windows.
  if (path === "" || path === ":memory:" || /^[a-z][a-z0-9+.-]+:/i.test(path)) return undefined;
  return sqliteAddress(toAbsolutePath(path, base));
}

export function sqliteAddress(file: string, { isOwnFolder = false } = {}): DatabaseAddress {
  return { kind: "sqlite", file, shown: file, ...(isOwnFolder ? { isOwnFolder } : {}) };
}

/** Whether it is a file that does not exist. */
export function isMissingFile(address: DatabaseAddress): boolean {
  return address.kind === "sqlite" && !existsSync(address.file);
}

function fileAddress(text: string): DatabaseAddress | undefined {
  try {
    return sqliteAddress(fileURLToPath(text));
  } catch {
    return undefined;
  }
}

function postgresAddress(text: string): DatabaseAddress | undefined {
  try {
    const { username, host, pathname, hash } = new URL(text);
    // A password with "/" or "#" that is not encoded: what follows it is taken for the name of the database.
    if (`${pathname}${hash}`.includes("@")) return undefined;
    const user = username === "" ? "" : `${username}@`;
    // The query can also contain a password.
    return { kind: "postgres", url: text, shown: `postgres://${user}${host}${pathname}` };
  } catch {
    return undefined;
  }
}
