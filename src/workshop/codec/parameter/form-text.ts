import { NexusError } from "../../../errors/nexus-error.ts";

export type Pair = readonly [name: string, value: string];

/** The form encoding: percent-encoded, a space is a plus. */
export function encodePairs(pairs: readonly Pair[]): string {
  // The items of a list have the same name.
  const names = new Map<string, string>();
  const nameOf = (name: string) => {
    const known = names.get(name) ?? formText(name, name);
    names.set(name, known);
    return known;
  };
  return pairs.map(([name, value]) => `${nameOf(name)}=${formText(value, name)}`).join("&");
}

export function decodePairs(body: Uint8Array | string): Pair[] {
  try {
    const text = typeof body === "string" ? body : new TextDecoder("utf-8", { fatal: true }).decode(body);
    return text
      .split("&")
      .filter((part) => part !== "")
      .map((part) => {
        const [, name = "", value = ""] = /^([^=]*)=?([^]*)$/.exec(part) ?? [];
        return [plainText(name), plainText(value)];
      });
  } catch (error) {
    throw new NexusError("PROTOCOL_VIOLATION", "The form cannot be read: it is not encoded as forms are", {
      cause: error,
      mayHaveReached: true,
    });
  }
}

/** Percent-encoded for any place in an address. `name` is for the error. */
export function percentEncoded(text: string, name: string): string {
  // Most values are words, numbers and dates, which need no encoding.
  if (/^[\w.~-]*$/.test(text)) return text;
  try {
    return encodeURIComponent(text).replace(
      /[!'()*]/g,
      (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`,
    );
  } catch {
    throw new NexusError("ARGUMENTS_INVALID", `${name} contains half of a character`, { mayHaveReached: false });
  }
}

function formText(text: string, name: string): string {
  const encoded = percentEncoded(text, name);
  return encoded === text ? text : encoded.replaceAll("%20", "+");
}

function plainText(text: string): string {
  return decodeURIComponent(text.replaceAll("+", " "));
}
