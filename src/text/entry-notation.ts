/** A member as JSON writes it: its name in quotes, a colon and a space. Quotes inside a JSON text have a backslash. */
const MEMBER = /"([A-Za-z_][\w-]*)": /g;

/**
 * A message that shows members of a server entry as JSON, in the notation of the file that contains the entry: what
 * follows a member's name (texts, lists) is the same in JSON, YAML and TOML.
 */
export function writeForFile(text: string, file: string | undefined): string {
  const separator = separatorOf(file);
  return separator === undefined ? text : text.replaceAll(MEMBER, (_all, name: string) => `${name}${separator}`);
}

/** Members that people paste into an entry of the file: in YAML and TOML each one has its own line. */
export function writeMembersForFile(members: string, file: string | undefined): string {
  if (separatorOf(file) === undefined) return members;
  const lines = topMembers(members) ?? [members];
  return lines.map((line) => writeForFile(line, file)).join("\n");
}

function separatorOf(file = ""): string | undefined {
  if (/\.ya?ml$/i.test(file)) return ": ";
  return /\.toml$/i.test(file) ? " = " : undefined;
}

/** Undefined for a text that is not made of members. */
function topMembers(members: string): string[] | undefined {
  try {
    const entry = JSON.parse(`{${members}}`) as Record<string, unknown>;
    return Object.entries(entry).map(([name, value]) => `"${name}": ${spaced(value)}`);
  } catch {
    return undefined;
  }
}

/** JSON in one line, with a space after colons and commas. */
function spaced(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(spaced).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([name, inner]) => `${JSON.stringify(name)}: ${spaced(inner)}`);
  return `{ ${members.join(", ")} }`;
}
