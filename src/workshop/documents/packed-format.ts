import type { Looks } from "./document-format.ts";

/** Whether bytes are a PDF: its mark may be after a byte order mark and blanks. */
export function isPdf(bytes: Uint8Array): boolean {
  return /^(?:\u00ef\u00bb\u00bf)?\s*%PDF-\d/.test(beginning(bytes, 1_024));
}

const AS_TEXT = "Save it as PDF, HTML or Markdown, and import that.";

/** Formats by their first bytes, in hexadecimal digits. Nothing is unpacked: small archives may have a lot inside. */
const PACKED: readonly [string, Looks][] = [
  ["504b0304", archive("a ZIP archive")],
  ["504b0506", archive("a ZIP archive")],
  ["504b0708", archive("a ZIP archive")],
  ["1f8b", archive("a gzip archive")],
  ["425a68", archive("a bzip2 archive")],
  ["fd377a585a00", archive("an xz archive")],
  ["377abcaf271c", archive("a 7z archive")],
  ["28b52ffd", archive("a zstd archive")],
  ["526172211a07", archive("a RAR archive")],
  ["d0cf11e0", { like: "a document of an old office program", fix: AS_TEXT }],
  ...["89504e47", "ffd8ff", "47494638", "49492a00", "4d4d002a"].map((start): [string, Looks] => [
    start,
    { like: "a picture", fix: "Run text recognition (OCR) on it, correct the text, and import that." },
  ]),
];

/** What bytes are that are no text; undefined if nothing is recognised. */
export function packedFormat(bytes: Uint8Array): Looks | undefined {
  const start = beginning(bytes, 4_096);
  const digits = Buffer.from(start.slice(0, 8), "latin1").toString("hex");
  const found = PACKED.find(([mark]) => digits.startsWith(mark))?.[1];
  const isOffice = /\[Content_Types\]\.xml|mimetypeapplication\/vnd\.oasis|word\/document\.xml/.test(start);
  if (found && isOffice) return { like: "a document of an office program", fix: AS_TEXT };
  return found ?? (start.slice(257, 262) === "ustar" ? archive("a tar archive") : undefined);
}

function archive(like: string): Looks {
  return { like, fix: "Unpack it, and import the description or the manual inside." };
}

/** One character for each byte. */
function beginning(bytes: Uint8Array, length: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, length)).toString("latin1");
}
