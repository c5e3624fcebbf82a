import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline, Readable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { createGunzip, createGzip } from "node:zlib";
import { writeOwnerOnly } from "../files/owner-only-file.ts";
import { isRecord } from "../json/is-record.ts";
import { messageOf, NexusError } from "../errors/nexus-error.ts";
import type { StoredRow } from "./keep/kept-rows.ts";

const FORMAT = 1;
const GZIP_START = Buffer.from([0x1f, 0x8b]);

/** The first line of a backup. */
interface BackupHeader {
  /** The schema version of the rows. */
  schema: number;
  at: number;
  /** The check value of the master key. */
  check: string;
}

export interface BackupRow {
  table: string;
  row: StoredRow;
}

export interface BackupContent {
  header: BackupHeader;
  rows: AsyncIterable<BackupRow>;
  /** Signs the digest of the content. */
  sign: (digest: string) => string;
}

/** Writes compressed lines of JSON. The last line has the number of rows, and a signed digest of all lines before it. */
export async function writeBackup(file: string, { header, rows, sign }: BackupContent): Promise<number> {
  let count = 0;
  const digest = createHash("sha256");
  async function* lines(): AsyncGenerator<string> {
    const line = (value: unknown) => {
      const text = `${JSON.stringify(value)}\n`;
      digest.update(text);
      return text;
    };
    yield line({ nexus: "backup", format: FORMAT, ...header });
    for await (const { table, row } of rows) {
      count++;
      yield line({ table, row });
    }
    const sha256 = digest.digest("hex");
    yield `${JSON.stringify({ rows: count, sha256, signature: sign(sha256) })}\n`;
  }
  const compressed = pipeline(Readable.from(lines()), createGzip(), () => {});
  await writeOwnerOnly(file, compressed as AsyncIterable<Uint8Array>);
  return count;
}

export interface ReadBackup {
  header: BackupHeader;
  rows: number;
  digest: string;
  /** Of the digest. The reader of the backup must verify it, with the master key that the header asks for. */
  signature: string;
}

/** Reads a whole backup. Throws DATA_DAMAGED if it was damaged or is incomplete, ARGUMENTS_INVALID if it is another file. */
export async function readBackup(file: string, onRow: (row: BackupRow) => Promise<void>): Promise<ReadBackup> {
  const digest = createHash("sha256");
  let count = 0;
  let header: BackupHeader | undefined;
  let read: ReadBackup | undefined;
  for await (const line of linesOf(file)) {
    if (read) throw damaged(file, "something follows its last line");
    const value = parsed(file, line);
    if (!header) header = headerIn(file, value);
    else if (isRowLine(value)) {
      count++;
      await onRow(value);
    } else {
      if (value["rows"] !== count) throw damaged(file, `it has ${count} rows instead of ${String(value["rows"])}`);
      const sha256 = digest.digest("hex");
      if (value["sha256"] !== sha256) throw damaged(file, "its checksum does not match");
      read = { header, rows: count, digest: sha256, signature: String(value["signature"]) };
    }
    if (!read) digest.update(`${line}\n`);
  }
  if (!read) throw damaged(file, "its end is missing");
  return read;
}

async function* linesOf(file: string): AsyncGenerator<string> {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  const opened = pipeline(createReadStream(file), createGunzip(), () => {});
  try {
    for await (const chunk of opened as AsyncIterable<Buffer>) {
      const text = decoder.write(chunk);
      // A line can have many megabytes: it is put together once.
      if (!text.includes("\n")) {
        rest += text;
        continue;
      }
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      yield* lines;
    }
  } catch (error) {
    throw await unreadable(file, error);
  }
  if (rest !== "") throw damaged(file, "its last line is not complete");
}

async function unreadable(file: string, error: unknown): Promise<unknown> {
  if (error instanceof NexusError) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code?.startsWith("Z_")) return (await isCompressed(file)) ? damaged(file, messageOf(error)) : notBackup(file);
  return new NexusError("ARGUMENTS_INVALID", `The backup cannot be read: ${messageOf(error)}`, {
    source: { file },
    hint: "Check the path and the permissions of the file.",
    cause: error,
    mayHaveReached: false,
  });
}

/** Whether the file starts as a gzip file. */
async function isCompressed(file: string): Promise<boolean> {
  await using opened = await open(file, "r");
  const { buffer, bytesRead } = await opened.read(Buffer.alloc(GZIP_START.length), 0, GZIP_START.length, 0);
  return buffer.subarray(0, bytesRead).equals(GZIP_START.subarray(0, bytesRead));
}

function notBackup(file: string): NexusError {
  return new NexusError("ARGUMENTS_INVALID", "The file is not a backup of Nexus", {
    source: { file },
    hint: `Nothing was changed. Name a file that "nexus store backup" wrote.`,
    mayHaveReached: false,
  });
}

function parsed(file: string, line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line);
    if (isRecord(value)) return value;
  } catch {
    // Reported below.
  }
  throw damaged(file, "a line of it is not JSON");
}

function headerIn(file: string, value: Record<string, unknown>): BackupHeader {
  const { nexus, format, schema, at, check } = value;
  if (nexus !== "backup") throw damaged(file, "it does not start as a backup of Nexus");
  if (typeof format === "number" && format > FORMAT) throw newerFormat(file, format);
  if (format === FORMAT && typeof schema === "number" && typeof at === "number" && typeof check === "string") {
    return { schema, at, check };
  }
  throw damaged(file, "its first line is not complete");
}

function isRowLine(value: Record<string, unknown>): value is Record<string, unknown> & BackupRow {
  return typeof value["table"] === "string" && /^nexus_[a-z_]+$/.test(value["table"]) && isRecord(value["row"]);
}

export function damaged(file: string, what: string): NexusError {
  return new NexusError("DATA_DAMAGED", `The backup is damaged: ${what}`, {
    source: { file },
    hint: "Nothing was changed. Use another backup.",
    mayHaveReached: false,
  });
}

function newerFormat(file: string, format: number): NexusError {
  return new NexusError(
    "CONFIG_INVALID",
    `The backup has format ${format}; this version of Nexus reads format ${FORMAT}`,
    {
      source: { file },
      hint: "Update Nexus: npm install -g nexus-mcp@latest",
      mayHaveReached: false,
    },
  );
}
