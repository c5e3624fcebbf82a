import { stat } from "node:fs/promises";
import { sep } from "node:path";
import { quoteWord } from "../../text/shell-words.ts";
import type { TrustStore } from "../../config/trust/trust-store.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { visible } from "../../text/visible.ts";
import { isAccepted } from "../../workshop/acceptance.ts";
import { compileApi, type CompiledApi } from "../../workshop/compile/compile.ts";
import { readApart, ReadingProblem, TOOL_FILE_LIMITS } from "../../workshop/documents/apart/read-apart.ts";
import { loadApi, type LoadedApi } from "../../workshop/load-api.ts";
import type { Lock } from "../../workshop/review/lock.ts";
import type { Problem } from "../../format/problem.ts";
import type { Output } from "../output/output.ts";
import { pluralize } from "../output/amounts.ts";
import { nearPath, shortPath } from "../output/short-path.ts";
import { findToolFile } from "./find-tool-file.ts";

/** The API that a command names. */
export interface NamedApi extends LoadedApi {
  /** Its path for people. */
  shown: string;
  /** The argument for further commands about the same file: another file may have the same name. */
  again: string;
}

export async function loadNamed(given: string, home: string): Promise<NamedApi> {
  const cwd = process.cwd();
  const path = await findToolFile(given, { cwd });
  return { ...(await loadApart(path)), shown: nearPath(path, { cwd, home }), again: typed(given, home) };
}

/** A smaller file is read sooner than a thread starts. */
const LARGE_BYTES = 128 * 1024;

/** A large file is read in a thread with limits, so that the command can be ended meanwhile. */
async function loadApart(path: string): Promise<LoadedApi> {
  const { size } = await stat(path).catch(() => ({ size: 0 }));
  if (size < LARGE_BYTES) return loadApi(path);
  try {
    return await readApart({ kind: "tool-file", path }, () => loadApi(path), { limits: TOOL_FILE_LIMITS.own });
  } catch (error) {
    if (!(error instanceof ReadingProblem)) throw error;
    throw new NexusError("CONFIG_INVALID", `The tool file ${path} ${error.message}`, {
      phase: "config",
      hint: "Make two APIs of it, or leave tools and types out.",
      mayHaveReached: false,
    });
  }
}

/** The lock, if this user has accepted it. Changes are not compared with any other lock. */
export async function ownLock({ path, lock }: LoadedApi, trust: TrustStore): Promise<Lock | undefined> {
  return lock && (await isAccepted(path, lock.compiled, trust)) ? lock : undefined;
}

/**
 * What is approved next: in the newest format, also if exactly this was approved in the first one, which does not cover the
 * texts of the fake.
 */
export function inNewestFormat<T extends LoadedApi & { api: CompiledApi }>(loaded: T): T {
  const { api, file, documents } = loaded;
  return api.format === 1 && file ? { ...loaded, api: compileApi(file, documents).api } : loaded;
}

/** For commands that need a valid file: shows its problems and ends. */
export async function loadSound(given: string, out: Output, home: string): Promise<NamedApi & { api: CompiledApi }> {
  const loaded = await loadNamed(given, home);
  const errors = loaded.problems.filter(({ severity }) => severity === "error");
  const { api } = loaded;
  if (api && errors.length === 0) return { ...loaded, api };
  for (const problem of errors) out.note(problemText(loaded.shown, problem));
  const [first] = errors;
  throw new NexusError("CONFIG_INVALID", `${loaded.shown} has ${pluralize(errors.length, "error")}`, {
    phase: "config",
    source: { file: loaded.path, line: first?.line, column: first?.column },
    hint: `Correct ${errors.length === 1 ? "it" : "them"}. "nexus api check ${loaded.again}" also shows warnings.`,
    mayHaveReached: false,
  });
}

/** What a file leaves open, for those who check or approve it. */
export function openQuestions({ file, again }: NamedApi): string | undefined {
  const count = file?.questions?.length ?? 0;
  return count === 0 ? undefined : `${pluralize(count, "open question")}: nexus api questions ${again}`;
}

/** Shells expand `~` only outside quotes, and those of Windows not at all. */
function typed(given: string, home: string): string {
  if (/\s/.test(given)) return quoteWord(given);
  return sep === "/" ? shortPath(given, home) : given;
}

/** `file:12:3 error tools.x.input: what is wrong` and the fix, in the form that editors know. */
export function problemText(file: string, { line, column, path, message, hint, severity }: Problem): string {
  const place = `${file}:${line}:${column}`;
  const where = path === "" ? "" : `${path}: `;
  const advice = hint === undefined ? "" : `\n    ${visible(hint)}`;
  return `${place} ${severity} ${visible(`${where}${message}`)}${advice}`;
}
