import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { NexusError } from "../../errors/nexus-error.ts";

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Nothing of ours that callers carry is longer; what is, was not sealed here. */
const MAX_LENGTH = 1024 * 1024;

/**
 * What clients carry for a server (cursors, request states, ids of tasks): nobody can read it, change it, or use it
 * for anything but what it was bound to. How long it is good for is a matter of what is inside.
 */
export class Seal {
  readonly #key: Buffer;
  /** Which key it was, so that another key's text is known without trying. */
  readonly #keyId: string;

  /** Without a key: a random one, good for the life of this process. */
  constructor(key: Buffer = randomBytes(KEY_BYTES)) {
    if (key.length !== KEY_BYTES) {
      throw new NexusError("CONFIG_INVALID", `A sealing key must have ${KEY_BYTES} bytes, not ${key.length}`);
    }
    this.#key = key;
    this.#keyId = createHash("sha256").update("nexus seal").update(key).digest("base64url").slice(0, 6);
  }

  /** `value` is anything that JSON can hold; `bound` has to be the same when it is opened. */
  seal(value: unknown, bound: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(bound));
    const parts = [nonce, cipher.update(JSON.stringify(value), "utf8"), cipher.final(), cipher.getAuthTag()];
    return `${this.#keyId}.${Buffer.concat(parts).toString("base64url")}`;
  }

  /** Undefined for whatever was not sealed with this key and bound to the same. */
  open(text: string, bound: string): unknown {
    if (text.length > MAX_LENGTH || !text.startsWith(`${this.#keyId}.`)) return undefined;
    const encoded = text.slice(this.#keyId.length + 1);
    const sealed = Buffer.from(encoded, "base64url");
    // The decoder skips what it cannot read: a text that was added to would pass for the one that was given out.
    if (sealed.length < NONCE_BYTES + TAG_BYTES || sealed.toString("base64url") !== encoded) return undefined;
    try {
      const decipher = createDecipheriv(CIPHER, this.#key, sealed.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(bound));
      decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
      const opened = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
      return JSON.parse(Buffer.concat([opened, decipher.final()]).toString("utf8")) as unknown;
    } catch {
      return undefined;
    }
  }
}
