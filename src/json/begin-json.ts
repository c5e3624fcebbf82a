/**
 * At least the first `length` characters of a value's JSON, or all of it: to show the beginning of a large value without
 * writing the rest. Undefined for values that JSON does not have.
 */
export function beginJson(value: unknown, length: number): string | undefined {
  if (typeof value === "string") return beginText(value, length);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return beginList(value, length);
  if (Object.getPrototypeOf(value) !== Object.prototype) return JSON.stringify(value);
  return beginObject(value as Record<string, unknown>, length);
}

/** A character more, because half of a pair at the end would be written as an escape. */
function beginText(text: string, length: number): string {
  return text.length <= length ? JSON.stringify(text) : JSON.stringify(text.slice(0, length + 1));
}

function beginList(items: readonly unknown[], length: number): string {
  let json = "[";
  for (const [index, item] of items.entries()) {
    if (index > 0) json += ",";
    if (json.length >= length) return json;
    json += beginJson(item, length - json.length) ?? "null";
  }
  return `${json}]`;
}

function beginObject(object: Readonly<Record<string, unknown>>, length: number): string {
  let json = "{";
  for (const name in object) {
    const member = beginJson(object[name], length);
    if (member === undefined) continue;
    json += `${json === "{" ? "" : ","}${beginText(name, length)}:${member}`;
    if (json.length >= length) return json;
  }
  return `${json}}`;
}
