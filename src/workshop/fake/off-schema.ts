const WRONG_NUMBER = "many";
/** An element with only text. */
const LEAF = /<([\w:.-]+)>([^<>]+)<\/\1>/g;
const NUMBER = /^\s*-?\d+(\.\d+)?\s*$/;

/**
 * A readable document that differs from the documentation: one number is a word, one value is missing, and one member
 * is unknown.
 */
export function offSchema(body: string, as: "xml" | "json"): string {
  return as === "xml" ? offSchemaXml(body) : offSchemaJson(body);
}

function offSchemaXml(body: string): string {
  const leaves = [...body.matchAll(LEAF)];
  const number = leaves.find(([, , text = ""]) => NUMBER.test(text));
  const missing = leaves.find((leaf) => leaf !== number && !NUMBER.test(leaf[2] ?? ""));
  let spoiled = body;
  if (number) spoiled = spoiled.replace(number[0], `<${number[1]}>${WRONG_NUMBER}</${number[1]}>`);
  if (missing) spoiled = spoiled.replace(missing[0], "");
  // Documents with only attributes lose their last one.
  else spoiled = spoiled.replace(/^([^]*) [\w:.-]+="[^"]*"/, "$1");
  return spoiled.replace(/<\/[\w:.-]+>\s*$|\/>\s*$/, (end) =>
    end.startsWith("</") ? `<unexpected>news</unexpected>${end}` : end,
  );
}

function offSchemaJson(body: string): string {
  const value: unknown = JSON.parse(body);
  const record = firstRecord(value);
  if (!record) return body;
  const number = Object.keys(record).find((key) => typeof record[key] === "number");
  const missing = Object.keys(record).find((key) => key !== number && typeof record[key] === "string");
  if (number !== undefined) record[number] = WRONG_NUMBER;
  if (missing !== undefined) delete record[missing];
  record["unexpected"] = "news";
  return JSON.stringify(value);
}

/** The first object with a single value. */
function firstRecord(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const members = Object.values(value);
  const isRecord = !Array.isArray(value) && members.some((member) => typeof member !== "object");
  if (isRecord) return value as Record<string, unknown>;
  for (const member of members) {
    const found = firstRecord(member);
    if (found) return found;
  }
  return undefined;
}
