import { promisify } from "node:util";
import { deflateRaw, inflateRaw } from "node:zlib";
import { sha256 } from "../../text/digest.ts";
import { MAX_DOCUMENT_LENGTH } from "../documents/parse-document.ts";
import type { Lock } from "./lock.ts";

/** Larger ones would make the lock too large for version control, and it has to stay below its own limit. */
const MOST_PACKED = 4 * 1024 * 1024;
/** UTF-8 has at most three bytes for a UTF-16 unit. */
const MAX_BYTES = 3 * MAX_DOCUMENT_LENGTH;

/** The texts of documents for a lock, smallest first as long as there is room. */
export async function packedDocuments(documents: Readonly<Record<string, string>>): Promise<Record<string, string>> {
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

/** The texts that a lock has, as far as they are those that were approved. */
export async function approvedDocuments({ documents = {}, compiled }: Lock): Promise<Record<string, string>> {
  const found = await Promise.all(
    Object.entries(documents).map(async ([name, packed]) => {
      const text = await unpacked(packed);
      // The lock is not signed; the hash of each document is part of what was approved.
      const isApproved = text !== undefined && compiled.file.documents[name]?.sha256 === sha256(text);
      return isApproved ? [[name, text] as const] : [];
    }),
  );
  return Object.fromEntries(found.flat());
}

async function unpacked(packed: unknown): Promise<string | undefined> {
  if (typeof packed !== "string") return undefined;
  try {
    const bytes = await promisify(inflateRaw)(Buffer.from(packed, "base64"), { maxOutputLength: MAX_BYTES });
    return bytes.toString("utf8");
  } catch {
    return undefined;
  }
}
