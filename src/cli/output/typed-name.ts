import { existsSync, realpathSync } from "node:fs";
import { relative, sep } from "node:path";
import type { Surroundings } from "../../transport/surroundings.ts";

/** How this program was started. */
export interface ProgramStart {
  /** The script, as Node names it. */
  script: string;
  cwd: string;
  /** The npm command that started it, such as "exec" of npx. */
  npmCommand: string | undefined;
}

const MAIN = /[\\/]dist[\\/]cli[\\/]main\.js$/;
/** What npx runs; on Windows the script itself. */
const OF_PACKAGE = /[\\/]node_modules[\\/](?:\.bin[\\/]nexus|nexus-mcp[\\/]dist[\\/]cli[\\/]main\.js)$/;

/**
 * What a person types for "nexus" to run this program again: npx does not put it into PATH, and neither does a clone of
 * the repository, where the script is run.
 */
export function typedName({ script, cwd, npmCommand }: ProgramStart): string {
  if (npmCommand === "exec" && OF_PACKAGE.test(script)) {
    // Where the package is not installed, "npx nexus" is another package.
    return /[\\/]_npx[\\/]/.test(existsSync(script) ? realpathSync(script) : script) ? "npx nexus-mcp" : "npx nexus";
  }
  const [end] = MAIN.exec(script) ?? [];
  if (end === undefined || !(cwd + sep).startsWith(script.slice(0, -end.length) + sep)) return "nexus";
  return `node ${relative(cwd, script).replaceAll("\\", "/")}`;
}

/** The same for the running process. */
export function ownTypedName({ variables }: Pick<Surroundings, "variables">): string {
  try {
    const [, script = ""] = process.argv;
    return typedName({ script, cwd: process.cwd(), npmCommand: variables["npm_command"] });
  } catch {
    // The working folder was removed.
    return "nexus";
  }
}

/** What follows the name of the program in its commands; a server or a tool may also be called "nexus". */
export const FIRST_WORDS =
  "--[a-z]+|<command>|api|audit|chat|completion|consent|demo|help|keys|mcp|models|new|secrets|serve|sets|store|tenants";
const COMMAND = new RegExp(`(?<![\\w./\\\\@-])nexus(?= (?:${FIRST_WORDS})(?![\\w-]))`, "g");

/** A text with its commands of this program as they are typed. */
export function withTypedName(text: string, name: string): string {
  return name === "nexus" ? text : text.replaceAll(COMMAND, () => name);
}
