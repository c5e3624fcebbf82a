/**
 * A digest in hex. Loading the library takes longer than a short command has: only who needs a digest waits for it.
 */
export function digest(kind: string, text: string | Uint8Array): string {
  return process.getBuiltinModule("node:crypto").createHash(kind).update(text).digest("hex");
}

export function sha256(text: string | Uint8Array): string {
  return digest("sha256", text);
}
