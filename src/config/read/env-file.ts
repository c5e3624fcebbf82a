import { parseEnv } from "node:util";
import { toAbsolutePath } from "../../files/paths.ts";
import { messageOf } from "../../errors/nexus-error.ts";
import type { Fault } from "./problem.ts";
import { loadText } from "./read-source.ts";
import { findMember, plainValue, type SourceNode } from "../../source/source-node.ts";

export interface EnvFile {
  env?: Record<string, string>;
  fault?: Fault;
}

interface EnvFileContext {
  home: string;
  /** The base of relative paths. */
  base: string;
  /** The entry before its variables were resolved. */
  written?: SourceNode | undefined;
  read?: ((path: string) => Promise<string | undefined>) | undefined;
  /** Whether a text from a path with variables may be used; undefined: always. */
  mayUse?: ((path: string, text: string) => Promise<boolean>) | undefined;
}

/**
 * The variables of an entry's `envFile`: lines of NAME=value. Values are used unchanged; variables in them are not
 * resolved.
 */
export async function loadEnvFile(node: SourceNode, context: EnvFileContext): Promise<EnvFile> {
  const member = findMember(node, "envFile");
  if (!member || member.node.kind !== "scalar" || member.node.value === null) return {};
  const { value, place } = member.node;
  if (typeof value !== "string") return { fault: { place, what: `"envFile" is not a path`, hint: `Write ".env".` } };
  const path = toAbsolutePath(value, context);
  // Resolved values may be secret.
  const given = findMember(context.written, "envFile");
  const written = given ? plainValue(given.node) : value;
  const hasVariables = written !== value;
  const shown = hasVariables ? String(written) : path;
  const hint = `Create the file with lines of NAME=value, or delete "envFile".`;
  try {
    const text = await (context.read?.(path) ?? loadText(path, { called: `The "envFile" ${shown}` }));
    if (text === undefined) return { fault: { place, what: `the "envFile" ${shown} does not exist`, hint } };
    // A path without variables always names the same file, which the author meant.
    if (hasVariables && context.mayUse && !(await context.mayUse(path, text))) return { fault: foreign(shown, place) };
    return { env: Object.fromEntries(Object.entries(parseEnv(text)).map(([name, text]) => [name, text ?? ""])) };
  } catch (error) {
    return { fault: { place, what: messageOf(error).replaceAll(path, () => shown), hint } };
  }
}

function foreign(shown: string, place: Fault["place"]): Fault {
  return {
    place,
    code: "UNTRUSTED",
    what: `its "envFile" ${shown} is in a folder that is not trusted, and its variables could make the server run any program`,
    hint: `Review the file, then use --trust for this run. If the folder has its own servers, "nexus mcp trust" trusts it permanently.`,
  };
}
