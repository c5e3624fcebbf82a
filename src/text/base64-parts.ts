/** Shorter parts of Base64 text are not recognised: they occur by chance. */
const SHORTEST = 8;

/**
 * How a value is written inside of a longer text in Base64, as in `user:password`: for each position, the letters that do
 * not depend on what is beside it. With the letters of URLs as well, where they differ.
 */
export function partsInBase64(value: string): string[] {
  const bytes = Buffer.from(value);
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64url");
    const own = text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + bytes.length) * 8) / 6));
    if (own.length < SHORTEST) return [];
    return [...new Set([own, own.replaceAll("-", "+").replaceAll("_", "/")])];
  });
}
