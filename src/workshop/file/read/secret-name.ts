import type { Part } from "../../../format/part.ts";

/** `pin-{hotelId}`: letters, digits, and input fields. */
const NAME = /^(?:[A-Za-z0-9._-]|\{[A-Za-z][A-Za-z0-9_]*\})+$/;
const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;
/** Set by the sender of the request, or in other parts of the file. */
const OWN_HEADERS = ["host", "content-length", "transfer-encoding", "connection", "content-type", "cookie"];

/** The name of a secret; a value in its place is reported. */
export function readSecretName(part: Part): string | undefined {
  const name = part.text();
  if (name === undefined || NAME.test(name)) return name;
  part.error(
    `"${name}" is not a valid name of a secret`,
    "Names only: letters, digits, . _ - and {field}. Values are in the store.",
  );
  return name;
}

/** Reports a header that cannot be set; `hint`: what to write instead of Authorization, "" where it may be set. */
export function checkHeader(part: Part, header: string, hint: string): void {
  if (!HEADER.test(header)) part.keyError(`"${header}" cannot be the name of a header`);
  else if (OWN_HEADERS.includes(header.toLowerCase())) part.keyError(`${header} is set by itself`, "Leave it out.");
  else if (header.toLowerCase() === "authorization" && hint !== "") part.keyError(`${header} carries a secret`, hint);
}
