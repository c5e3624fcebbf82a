import { createHash } from "node:crypto";
import { isRecord } from "../../json/is-record.ts";

/**
 * The entity tag of an answer: `"version.content"`. `If-None-Match` compares all of it, `If-Match` only the version, which
 * does not change with members that change by themselves.
 */
export function entityTag(value: unknown, volatile: readonly string[] = []): string {
  return `"${digestOf(stable(value, volatile))}.${digestOf(value)}"`;
}

/** Whether one of the tags in the header is this one. */
export function matchesTag(header: string, tag: string): boolean {
  return tagsIn(header).some((each) => each === "*" || each === tag);
}

/** The same for the version alone. */
export function matchesVersion(header: string, tag: string): boolean {
  const version = versionIn(tag);
  return tagsIn(header).some((each) => each === "*" || versionIn(each) === version);
}

function tagsIn(header: string): string[] {
  return header.split(",").map((each) => each.trim().replace(/^W\//, ""));
}

function versionIn(tag: string): string {
  return tag.slice(1).split(".", 1)[0] ?? "";
}

function stable(value: unknown, volatile: readonly string[]): unknown {
  if (volatile.length === 0 || !isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !volatile.includes(name)));
}

function digestOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value)).digest("base64url").slice(0, 16);
}
