import { base64In } from "../record/scalar.ts";

/** Bytes that a caller gave, with what a data URL says about them. */
interface GivenBytes {
  bytes: Uint8Array;
  contentType?: string;
  fileName?: string;
}

const DATA_URL = /^data:([\w.+-]{1,100}\/[\w.+-]{1,100})?((?:;[^;,]{1,300}){0,5});base64,/;

/** The bytes in base64 or in a data URL, whose file name may be `;name=…`; undefined if it is neither. */
export function bytesIn(text: unknown): GivenBytes | undefined {
  const base64 = typeof text === "string" ? base64In(text) : undefined;
  if (typeof text !== "string" || base64 === undefined) return undefined;
  const [, contentType, more = ""] = DATA_URL.exec(text) ?? [];
  const [, name] = /;(?:file)?name=([^;]*)/i.exec(more) ?? [];
  return {
    bytes: Buffer.from(base64, "base64"),
    ...(contentType === undefined ? {} : { contentType }),
    ...(name === undefined ? {} : { fileName: decoded(name) }),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
