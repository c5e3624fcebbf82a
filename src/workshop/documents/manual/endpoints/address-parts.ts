/** What stands for a part of an address: `{order id}`, `<order id>`, `[order id]`, `${order}`. Its words may have blanks. */
export const PART = String.raw`[$#]?\{\{[\w .:-]{1,60}\}\}|[$#]?\{[\w .:#-]{1,60}\}|<[\w .:-]{1,60}>|&lt;[\w .:-]{1,60}&gt;|(?<=[/.])\[[\w .-]{1,60}\]`;

/** With `{name}` for placeholders of any style; `isIn`: what is before those that are only signs and a word. */
export function withBraces(text: string, isIn: "host" | "path"): string {
  const before = isIn === "host" ? String.raw`(?<=^|\.)` : String.raw`(?<=\/)`;
  return text
    .replaceAll(/&lt;/gi, "<")
    .replaceAll(/&gt;/gi, ">")
    .replaceAll(/\$?\{\{?\s*([^{}]*?)\s*\}?\}/g, (_, name: string) => `{${placeholderName(name)}}`)
    .replaceAll(/<\s*([^<>]*?)\s*>/g, (_, name: string) => `{${placeholderName(name)}}`)
    .replaceAll(/%([A-Za-z_]\w*)%(?![\da-f]{2})/gi, "{$1}")
    .replaceAll(new RegExp(String.raw`${before}:([A-Za-z_]\w*)`, "g"), "{$1}")
    .replaceAll(
      new RegExp(String.raw`${before}\[([A-Za-z_][\w .-]*)\]`, "g"),
      (_, name: string) => `{${placeholderName(name)}}`,
    )
    .replaceAll(new RegExp(String.raw`${before}\$([A-Za-z_]\w*)`, "g"), "{$1}");
}

/** A name that a parameter can have. One with a # stays: nobody knows what it means. */
function placeholderName(text: string): string {
  const sign = text.includes("#") ? "#" : "";
  return (
    sign + (text.replaceAll(/[^\w]+(\w)/g, (_, next: string) => next.toUpperCase()).replaceAll(/[^\w]/g, "") || "id")
  );
}

/** `https://host` of an address, in small letters; placeholders stay. */
export function originIn(address: string): string | undefined {
  return /^https?:\/\/[^/?#]+/i.exec(address)?.[0].toLowerCase();
}
