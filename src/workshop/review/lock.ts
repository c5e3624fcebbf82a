import { promisify } from "node:util";
import { deflateRaw } from "node:zlib";
import { writeAtomic } from "../../files/atomic-write.ts";
import { readRegularFile, type FileRead } from "../../files/regular-file.ts";
import { lockPath } from "../../config/read/lock-path.ts";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { approvedForm, fromApprovedForm } from "../compile/approved-form.ts";
import type { CompiledApi } from "../compile/compile.ts";
import { type AnyForm, constant, type Form, list, map, record, text } from "../../format/form.ts";
import { readValue } from "../../format/read-form.ts";
import { writeForm } from "../../format/write-form.ts";
import { isDeeperThan } from "../../json/nesting.ts";

/** Larger ones would make the lock too large for version control, and it has to stay below its own limit. */
const MOST_PACKED = 4 * 1024 * 1024;

/** A lock contains everything that was compiled. The limit is that of project trust (config/trust/fingerprint.ts). */
const MAX_BYTES = 16 * 1024 * 1024;
const MAX_DEPTH = 200;

/** An approval: who, what and when. */
export interface Approval {
  hash: string;
  by: string;
  at: string;
  version: string;
}

/** The content of `<api>.nexus.lock`: all approvals, the newest last, and the compiled API of the newest one. */
export interface Lock {
  nexus: 1;
  /** What the newest approval covers. Absent in the first format. */
  format?: 2;
  api: string;
  approvals: Approval[];
  compiled: CompiledApi;
  /**
   * The documents that the newest approval is about, as they were, packed: a changed document is compared with them. From
   * format 2 on, without those that are too large.
   */
  documents?: Record<string, string>;
}

/** All but the compiled API, which has a form of its own (approved-form.ts). What is not declared here is ignored. */
const APPROVAL: Form<Approval> = record(
  { hash: word(), by: word(), at: word(), version: word() } satisfies Record<keyof Approval, AnyForm>,
  { open: true },
);
const ENVELOPE: Form<Omit<Lock, "compiled">> = record(
  {
    nexus: constant(1),
    format: constant(2).optional(),
    api: word(),
    approvals: list(APPROVAL),
    documents: map(word()).optional(),
  } satisfies Record<Exclude<keyof Lock, "compiled">, AnyForm>,
  { open: true },
);

function word(): Form<string> {
  return text({ empty: true });
}

/** Undefined if there is no approval yet. */
export async function readLock(toolFile: string): Promise<Lock | undefined> {
  const path = lockPath(toolFile);
  const written = textOf(path);
  if (written === undefined) return undefined;
  // A hostile file could be nested deeply, and hashing recurses.
  if (isDeeperThan(written, MAX_DEPTH)) throw unusable(path, `it is nested deeper than ${MAX_DEPTH} levels`);
  const lock = parse(path, written);
  const newest = lock.approvals.at(-1);
  const compiled = fromApprovedForm(lock.compiled);
  // A lock whose parts do not match proves nothing about what the reviewer saw.
  if (newest && compiled && newest.hash === compiled.hash) return { ...lock, compiled };
  throw unusable(path, "its approval and what it is about do not belong together");
}

/** Undefined if there is none. */
function textOf(path: string): string | undefined {
  let found: FileRead;
  try {
    found = readRegularFile(path, MAX_BYTES);
  } catch (error) {
    throw unusable(path, messageOf(error), error);
  }
  if (found.kind === "read") return found.bytes.toString("utf8");
  if (found.kind === "missing") return undefined;
  throw unusable(
    path,
    found.kind === "too-large" ? `it is larger than ${MAX_BYTES} bytes` : "it is not a regular file",
  );
}

export function isApproved(lock: Lock | undefined, api: CompiledApi): boolean {
  return lock?.approvals.at(-1)?.hash === api.hash;
}

/** Records an approval. Earlier approvals stay in the list; only the newest is served. `documents`: their texts by name. */
export async function approve(
  toolFile: string,
  api: CompiledApi,
  { by, at, documents = {} }: { by: string; at: Date; documents?: Readonly<Record<string, string>> },
): Promise<Approval> {
  const approval = { hash: api.hash, by, at: at.toISOString(), version: api.file.version };
  const before = await readLock(toolFile);
  const lock: Lock = {
    nexus: 1,
    ...(api.format === 1 ? {} : { format: api.format }),
    api: api.file.api,
    approvals: [...(before?.approvals ?? []), approval],
    compiled: api,
  };
  const packed = api.format === 1 ? {} : await packedDocuments(documents);
  const texts = [textOfLock({ ...lock, documents: packed }), textOfLock(lock)];
  // A lock that is too large cannot be read; without documents, only their hashes can be compared.
  const kept = texts.find((each) => Buffer.byteLength(each) <= MAX_BYTES) ?? texts[1] ?? "";
  await writeAtomic(lockPath(toolFile), kept, 0o644);
  return approval;
}

/** Documents stand last: they are the longest. */
function textOfLock({ compiled, ...envelope }: Lock): string {
  // What is written has the members of the form.
  const { documents, ...first } = Object(writeForm(ENVELOPE, envelope)) as Omit<Lock, "compiled">;
  const kept = { ...first, compiled: approvedForm(compiled), documents };
  return `${JSON.stringify(kept, null, 2)}\n`;
}

/** A lock whose compiled API is not compared yet. */
function parse(path: string, written: string): Omit<Lock, "compiled"> & { compiled: unknown } {
  let value: unknown;
  try {
    value = JSON.parse(written);
  } catch (error) {
    throw unusable(path, messageOf(error), error);
  }
  if (isRecord(value) && typeof value["format"] === "number" && value["format"] > 2) {
    throw unusable(path, `it has format ${value["format"]}, and this version of Nexus knows formats 1 and 2`);
  }
  const { compiled, ...envelope } = isRecord(value) ? value : {};
  const { value: lock, problems } = readValue(ENVELOPE, envelope);
  const [problem] = problems;
  if (!problem) return { ...lock, compiled };
  throw unusable(path, `it is not a lock file of this version: ${problem.pointer.slice(1) || "it"} ${problem.message}`);
}

function unusable(path: string, why: string, cause?: unknown): NexusError {
  return new NexusError("CONFIG_INVALID", `The lock file ${path} cannot be used: ${why}`, {
    phase: "config",
    hint: `Restore it from your version control, or remove it and approve again: nexus api approve ${path.replace(/\.lock$/, ".yaml")}`,
    cause,
    mayHaveReached: false,
  });
}

/** The texts of documents for a lock, smallest first as long as there is room. */
async function packedDocuments(documents: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const all = await Promise.all(
    Object.entries(documents).map(async ([name, text]) => {
      return [name, (await promisify(deflateRaw)(text, { level: 9 })).toString("base64")] as const;
    }),
  );
  const kept = new Set<string>();
  let left = MOST_PACKED;
  for (const [name, { length }] of all.toSorted(([, a], [, b]) => a.length - b.length)) {
    if (length > left) break;
    left -= length;
    kept.add(name);
  }
  return Object.fromEntries(all.filter(([name]) => kept.has(name)));
}
