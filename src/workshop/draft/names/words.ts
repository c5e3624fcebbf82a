import { sha256 } from "../../../text/digest.ts";

const LETTERS: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
};

/** The words of a name in small letters without accents: `getHTTPStatus-für_x` is get, http, status, fur, x. */
export function wordsOf(name: string): string[] {
  return (
    latin(name)
      .replaceAll(/['’]/g, "")
      .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
      // IDs and URLs are one word; the last capital of HTTPStatus begins another.
      .replaceAll(/([A-Z])([A-Z][a-z])(?!s\b|s[A-Z_])/g, "$1 $2")
      .toLowerCase()
      .split(/[^a-z0-9]+/)
      .filter((word) => word !== "")
  );
}

function latin(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[ßæœøłđðþ]/gi, (sign) => LETTERS[sign.toLowerCase()] ?? sign);
}

/** A few characters that stand for a text, always the same ones. */
export function shortHash(text: string, length = 6): string {
  // A name must not look like a number, and words of hex digits are not read as words.
  return sha256(text).slice(0, length);
}

export function pascalCase(words: readonly string[]): string {
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}
