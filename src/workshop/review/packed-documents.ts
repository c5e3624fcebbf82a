import { promisify } from "node:util";
import { inflateRaw } from "node:zlib";
import { sha256 } from "../../text/digest.ts";
import { MAX_DOCUMENT_LENGTH } from "../documents/parse-document.ts";
import type { Lock } from "./lock.ts";

/** UTF-8 has at most three bytes for a UTF-16 unit. */
const MAX_BYTES = 3 * MAX_DOCUMENT_LENGTH;

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
