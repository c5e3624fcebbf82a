import { checkOptions, type OptionNames } from "../errors/check-options.ts";
import { dirname, isAbsolute, join } from "node:path";
import { isInside } from "../files/paths.ts";
import { findRegularText, readRegularFile } from "../files/regular-file.ts";
import type { TrustStore } from "../config/trust/trust-store.ts";
import { messageOf, NexusError } from "../errors/nexus-error.ts";
import { isAccepted } from "./acceptance.ts";
import {
  TOO_NESTED,
  tryCompileApi,
  tryCompileApproved,
  type CompiledApi,
  type CompileProblem,
} from "./compile/compile.ts";
import { refusedExamples } from "./check/refused-examples.ts";
import { MAX_DOCUMENT_LENGTH } from "./documents/parse-document.ts";
import { Problems, TooManyErrors, type Problem } from "../format/problem.ts";
import { readToolFile } from "./file/read-tool-file.ts";
import type { ToolFile } from "./file/model/tool-file.ts";
import { readYaml } from "./file/model/read-yaml.ts";
import { isApproved, readLock, type Lock } from "./review/lock.ts";
import { requestTools } from "./file/model/request-tools.ts";
import { CompletedValues } from "./run/completed-values.ts";
import { requestWriter } from "./run/request-writer.ts";
import { responseReader } from "./run/response-reader.ts";

/** The parser reports files that are slightly too large; much larger ones are not read at all. */
const MAX_BYTES = 17 * 1024 * 1024;
const MAX_DOCUMENTS_LENGTH = 64 * 1024 * 1024;

/** A tool file on disk with its documents and its lock. */
export interface LoadedApi {
  path: string;
  text: string;
  /** All problems in the order of the file; a file with an error cannot be served. */
  problems: Problem[];
  /** Absent if the file cannot be compiled. */
  file?: ToolFile;
  api?: CompiledApi;
  documents: Record<string, string>;
  lock?: Lock;
}

/** The served API, and the file with its fake and checks. */
export interface ApprovedApi {
  api: CompiledApi;
  file: ToolFile;
  documents: Record<string, string>;
}

/** Reads a tool file, its documents and its lock. Errors in the file are returned, not thrown. */
export async function loadApi(path: string): Promise<LoadedApi> {
  const text = loadText(path);
  const { file, problems } = readToolFile(text, path);
  if (!file) return { path, text, problems, documents: {} };
  const documents = loadDocuments(file, dirname(path));
  const lock = await readLock(path);
  const { api, problems: more } = compiledFor(lock, file, documents);
  const found = api ? [...more, ...trialsOf(api, lock)] : more;
  const all = [...problems, ...placed(found, text)].sort(byPlace);
  return { path, text, file, ...(api ? { api } : {}), documents, problems: all, ...(lock ? { lock } : {}) };
}

/** What is found by using the API. */
function trialsOf(api: CompiledApi, lock: Lock | undefined): CompileProblem[] {
  // What was approved was found to be usable then.
  const trials = isApproved(lock, api) ? [refusedExamples] : [unusableTools, refusedExamples];
  return trials.flatMap((trial) => triedOut(trial, api));
}

function triedOut(trial: (api: CompiledApi) => CompileProblem[], api: CompiledApi): CompileProblem[] {
  try {
    return trial(api);
  } catch (error) {
    // The stack ended.
    if (error instanceof RangeError) return [TOO_NESTED];
    throw error;
  }
}

/** An approval of the first format counts as long as the file is unchanged. */
function compiledFor(lock: Lock | undefined, file: ToolFile, documents: LoadedApi["documents"]) {
  const known = lock?.compiled;
  return known?.format === 1
    ? tryCompileApproved(file, documents, { hash: known.hash, known })
    : tryCompileApi(file, documents, { known });
}

function loadText(path: string): string {
  try {
    const found = readRegularFile(path, MAX_BYTES);
    switch (found.kind) {
      case "read":
        return found.bytes.toString("utf8");
      case "missing":
        throw unreadable(`There is not a tool file ${path}`);
      case "not-a-file":
        throw unreadable(`${path} is a folder, a pipe or a device, not a tool file`);
      case "too-large":
        throw unreadable(`The tool file ${path} is larger than the limit of ${MAX_BYTES} bytes`);
    }
  } catch (error) {
    if (error instanceof NexusError) throw error;
    throw unreadable(`The tool file ${path} cannot be read: ${messageOf(error)}`, error);
  }
}

function unreadable(message: string, error?: unknown): NexusError {
  return new NexusError("CONFIG_INVALID", message, {
    phase: "config",
    hint: `Give the path of the file itself, such as "api/shop/shop.nexus.yaml".`,
    cause: error,
    mayHaveReached: false,
  });
}

interface LoadApprovedOptions {
  /** What this user has accepted; default: only files of the package. */
  trust?: TrustStore | undefined;
}

const OPTIONS: OptionNames<LoadApprovedOptions> = {
  trust: true,
};

/** Returns the API if it may be served: without errors, approved in this version, and accepted by this user. */
export async function loadApproved(path: string, options: LoadApprovedOptions = {}): Promise<ApprovedApi> {
  checkOptions("loadApproved", options, OPTIONS);
  return requireApproved(await loadApi(path), options);
}

/** The same for a file that was read before: this user may have accepted it since. */
export async function requireApproved(loaded: LoadedApi, { trust }: LoadApprovedOptions): Promise<ApprovedApi> {
  const { path, file, api, lock, documents, problems } = loaded;
  const mistakes = problems.filter(({ severity }) => severity === "error");
  const [first] = mistakes;
  if (first || !file || !api) {
    const more = mistakes.length > 1 ? ` (and ${mistakes.length - 1} more)` : "";
    throw new NexusError("CONFIG_INVALID", `The tool file ${path} has mistakes: ${first?.message}${more}`, {
      phase: "config",
      source: { file: path, line: first?.line, column: first?.column },
      hint: `See all of them: nexus api check ${path}`,
      mayHaveReached: false,
    });
  }
  const isLocked = isApproved(lock, api);
  if (isLocked && (await isAccepted(path, api, trust))) return { api, documents, file };
  const why = isLocked
    ? "was approved, but not by you"
    : lock
      ? "has changed since it was approved"
      : "was never approved";
  const once = isLocked ? ". For one run, take the approval as it is: --trust" : "";
  throw new NexusError("UNTRUSTED", `The tool file ${path} ${why}`, {
    phase: "config",
    hint: `Look at it and agree: nexus api diff ${path}, then nexus api approve ${path}${once}`,
    mayHaveReached: false,
  });
}

/** Documents are beside the file: a path that leads elsewhere is ignored. */
function loadDocuments(file: ToolFile, folder: string): Record<string, string> {
  const texts: Record<string, string> = {};
  let length = 0;
  for (const [name, { file: written }] of Object.entries(file.documents)) {
    const path = join(folder, written);
    if (isAbsolute(written) || !isInside(path, folder)) continue;
    const text = findRegularText(path, MAX_DOCUMENT_LENGTH);
    length += text?.length ?? 0;
    if (length > MAX_DOCUMENTS_LENGTH) {
      throw unreadable(`The documents of a tool file have more than ${MAX_DOCUMENTS_LENGTH} characters, the limit`);
    }
    // Git may check out texts with CRLF: the hash must be the same.
    if (text !== undefined) texts[name] = text.replaceAll("\r\n", "\n");
  }
  return texts;
}

/** With the place of each in the text. */
function placed(problems: readonly CompileProblem[], text: string): Problem[] {
  const tree = problems.length === 0 ? undefined : readYaml(text).tree;
  if (!tree) return [];
  const found = new Problems(tree);
  const steps = (path: string) => path.split(".").map((step) => (/^\d+$/.test(step) ? Number(step) : step));
  try {
    for (const { path, message, hint, severity } of problems) found[severity](steps(path), message, hint);
  } catch (error) {
    // It is the last problem itself.
    if (!(error instanceof TooManyErrors)) throw error;
  }
  return found.all();
}

function byPlace(a: Problem, b: Problem): number {
  return a.line - b.line || a.column - b.column;
}

/**
 * Tools whose requests or answers cannot be written as their types say, which is otherwise found at the first call:
 * several types may claim the same place upstream.
 */
function unusableTools({ file }: CompiledApi): CompileProblem[] {
  const values = new CompletedValues(file, "output");
  const known = new Set<string>();
  const found = new Map<string, CompileProblem>();
  for (const [name, spec] of requestTools(file)) {
    const { as, type, headers } = spec.response;
    const answer = JSON.stringify([as, type, headers]);
    const prepare = () => {
      requestWriter(file, name, spec);
      // Many tools have the same answer.
      if (!known.has(answer)) responseReader(file, spec, values);
      known.add(answer);
    };
    const message = problemOf(prepare);
    if (message !== undefined) found.set(message, problemAt(`tools.${name}`, message));
  }
  return [...found.values()];
}

function problemOf(prepare: () => void): string | undefined {
  try {
    prepare();
    return undefined;
  } catch (error) {
    if (error instanceof NexusError) return error.message;
    throw error;
  }
}

/** Messages about a field begin with its place. */
function problemAt(tool: string, text: string): CompileProblem {
  const [whole, path = tool] = /^(types\.\S+\.fields\.\S+): /.exec(text) ?? [""];
  return { path, message: text.slice(whole.length), severity: "error" };
}
