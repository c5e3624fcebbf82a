import { yamlBlockText, yamlScalar } from "./yaml-scalar.ts";

/** Plain data as a tool file has it; members that are undefined are left out. */
export type YamlMap = { [key: string]: unknown };

export interface YamlSection {
  /** Lines above the section. */
  comment?: string;
  key: string;
  value: unknown;
  /** How many levels inside of it are always written as blocks; default: none. */
  levels?: number;
  /** A blank line above it, and between its members. */
  apart?: boolean;
}

const WIDTH = 120;

/** The text of a file: one section after the other, small values on one line, the others as blocks. */
export function writeYaml(sections: readonly YamlSection[]): string {
  const lines: string[] = [];
  for (const { comment, key, value, levels = 0, apart = false } of sections) {
    if (value === undefined) continue;
    if ((apart || comment !== undefined) && lines.length > 0) lines.push("");
    for (const line of comment?.split("\n") ?? []) lines.push(`# ${line}`.trimEnd());
    writeMember(lines, { head: `${yamlScalar(key, false)}:`, indent: "", value, levels, apart });
  }
  return `${lines.join("\n")}\n`;
}

interface Member {
  /** What stands before the value on its line, with its own indentation. */
  head: string;
  /** The indentation of the member itself. */
  indent: string;
  value: unknown;
  levels: number;
  apart: boolean;
}

function writeMember(lines: string[], { head, indent, value, levels, apart }: Member): void {
  const flow = levels > 0 && isFilledMap(value) ? undefined : flowText(value, WIDTH - head.length - 1, false);
  if (flow !== undefined) {
    lines.push(`${head} ${flow}`);
  } else if (typeof value === "string") {
    const [sign = "", ...block] = yamlBlockText(value, `${indent}  `, WIDTH) ?? [yamlScalar(value, false)];
    lines.push(`${head} ${sign}`, ...block);
  } else if (Array.isArray(value)) {
    lines.push(head);
    for (const item of value as unknown[]) writeItem(lines, item, `${indent}  `);
  } else {
    lines.push(head);
    writeMembers(lines, value as YamlMap, { indent: `${indent}  `, levels: levels - 1, apart });
  }
}

function writeMembers(
  lines: string[],
  map: YamlMap,
  { indent, levels, apart }: Pick<Member, "indent" | "levels" | "apart">,
): void {
  let isFirst = true;
  for (const [key, value] of Object.entries(map)) {
    if (value === undefined) continue;
    if (apart && !isFirst) lines.push("");
    isFirst = false;
    writeMember(lines, { head: `${indent}${yamlScalar(key, false)}:`, indent, value, levels, apart: false });
  }
}

function writeItem(lines: string[], item: unknown, indent: string): void {
  const flow = flowText(item, WIDTH - indent.length - 2, false);
  if (flow !== undefined) {
    lines.push(`${indent}- ${flow}`);
  } else if (typeof item === "string") {
    const [sign = "", ...block] = yamlBlockText(item, `${indent}  `, WIDTH) ?? [yamlScalar(item, false)];
    lines.push(`${indent}- ${sign}`, ...block);
  } else {
    // The block begins in the line of its dash.
    const inner: string[] = [];
    if (Array.isArray(item)) for (const each of item as unknown[]) writeItem(inner, each, `${indent}  `);
    else writeMembers(inner, item as YamlMap, { indent: `${indent}  `, levels: 0, apart: false });
    lines.push(`${indent}- ${(inner[0] ?? "").trimStart()}`, ...inner.slice(1));
  }
}

function isFilledMap(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;
}

/** The value on one line, or undefined if it does not fit or has several lines. */
function flowText(value: unknown, room: number, inside: boolean): string | undefined {
  if (typeof value !== "object" || value === null) {
    if (typeof value === "string" && (value.includes("\n") || value.length > room) && !inside) {
      return isUnbreakable(value) ? yamlScalar(value, inside) : undefined;
    }
    if (typeof value === "string" && (value.includes("\n") || value.length > room)) return undefined;
    const text = yamlScalar(value, inside);
    return text.length <= room || (!inside && typeof value !== "string") ? text : undefined;
  }
  const list = Array.isArray(value);
  let rest = room - 4;
  const parts: string[] = [];
  for (const [key, member] of Object.entries(value as YamlMap)) {
    if (member === undefined && !list) continue;
    const name = list ? "" : `${yamlScalar(key, true)}: `;
    const text = rest < name.length ? undefined : flowText(member ?? null, rest - name.length, true);
    if (text === undefined) return undefined;
    parts.push(name + text);
    rest -= name.length + text.length + 2;
  }
  if (rest < -2) return undefined;
  if (list) return `[${parts.join(", ")}]`;
  return parts.length === 0 ? "{}" : `{ ${parts.join(", ")} }`;
}

/** Without blanks there is nothing to fold. */
function isUnbreakable(text: string): boolean {
  return !/[ \n]/.test(text);
}
