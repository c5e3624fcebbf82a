/** A digest in hex. Only this file loads node:crypto, which is slow for short commands that need no digest. */
export function sha256(text: string | Uint8Array): string {
  return process.getBuiltinModule("node:crypto").hash("sha256", text, "hex");
}

/** A short name for a text without node:crypto: for keys where a collision has no effect on security. */
export function shortName(text: string): string {
  let [a, b, c] = [0xdeadbeef, 0x41c6ce57, 0x9e3779b9];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 2_654_435_761);
    b = Math.imul(b ^ code, 1_597_334_677);
    c = Math.imul(c ^ code ^ (a >>> 16), 2_246_822_507);
  }
  a = Math.imul(a ^ (b >>> 15), 2_246_822_507) ^ c;
  b = Math.imul(b ^ (c >>> 13), 3_266_489_909) ^ a;
  return [a, b, c].map((part) => (part >>> 0).toString(16).padStart(8, "0")).join("");
}
