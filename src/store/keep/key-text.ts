import { hash, randomBytes, timingSafeEqual } from "node:crypto";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
const ID_LENGTH = 16;
/** 62^44 is more than 2^256. */
const SECRET_LENGTH = 44;
const KEY = new RegExp(`^nxs_([A-Za-z0-9]{${ID_LENGTH}})_[A-Za-z0-9]{${SECRET_LENGTH}}$`);
/** Larger bytes are skipped, so that all letters are equally likely. */
const FAIR = 256 - (256 % ALPHABET.length);

export function newKeyId(): string {
  return randomText(ID_LENGTH);
}

/** The full text of a new key: `nxs_<id>_<secret>`. */
export function newKeyText(id: string): string {
  return `nxs_${id}_${randomText(SECRET_LENGTH)}`;
}

/** The id in the text of a key; undefined if it is not a key. */
export function idInKey(text: string): string | undefined {
  return KEY.exec(text)?.[1];
}

/** The stored hash of a key. A fast hash without salt is enough for a random secret of 256 bits. */
export function hashOfKey(text: string): string {
  return hash("sha256", text, "hex");
}

/** Compares in constant time. */
export function isSameHash(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one, "hex"), Buffer.from(other, "hex")];
  return a.length === b.length && a.length > 0 && timingSafeEqual(a, b);
}

function randomText(length: number): string {
  let text = "";
  while (text.length < length) {
    for (const byte of randomBytes(length)) {
      if (byte < FAIR && text.length < length) text += ALPHABET[byte % ALPHABET.length];
    }
  }
  return text;
}
