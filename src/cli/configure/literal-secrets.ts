import { isRecord } from "../../json/is-record.ts";

/** A value in an entry that looks like a secret and stands there as it is. */
export interface LiteralSecret {
  /** How a person would name the place: `env GITHUB_TOKEN`, `header Authorization`. */
  where: string;
  /** What it could be stored as. */
  name: string;
  /** What to write in its place. */
  instead: string;
}

const TELLING = /token|key|secret|passw|credential|auth|cookie/i;

/** Finds what should not stand in a file: people copy files, show them, and commit them. */
export function literalSecrets(entry: unknown): LiteralSecret[] {
  if (!isRecord(entry)) return [];
  return [
    ...pairs(entry["env"]).flatMap(([name, value]) => found(name, value, { where: `env ${name}`, before: `${name}=` })),
    ...pairs(entry["headers"]).flatMap(([name, value]) => {
      const [, scheme = ""] = /^(\w+ +)\S/.exec(value) ?? [];
      return found(name, value, { where: `header ${name}`, before: `${name}: ${scheme}` });
    }),
    ...words(entry).flatMap((word) => {
      const [, option, name = "", value = ""] = /^(--?([\w-]+)=)(.+)$/.exec(word) ?? [];
      return option === undefined ? [] : found(name, value, { where: `argument --${name}`, before: option });
    }),
  ];
}

/** What to tell somebody who wrote one: what to type instead. */
export function adviceAbout({ where, name, instead }: LiteralSecret): string {
  return `${where} looks like a secret and is stored in the file as plain text. Better: run nexus secrets set ${name}, and write '${instead}'`;
}

function found(name: string, value: string, { where, before }: { where: string; before: string }): LiteralSecret[] {
  // References are what is wanted; a path leads to a secret and is none.
  const isHarmless = value === "" || value.includes("${") || /^(?:[/~.]|[A-Za-z]:\\)/.test(value);
  if (isHarmless || !TELLING.test(name)) return [];
  const stored = name.replaceAll(/[^\w.-]/g, "_");
  return [{ where, name: stored, instead: `${before}\${secret:${stored}}` }];
}

function words({ command, args }: Record<string, unknown>): string[] {
  return [command, args].flat().filter((word) => typeof word === "string");
}

function pairs(value: unknown): [string, string][] {
  if (!isRecord(value)) return [];
  return Object.entries(value).filter((pair): pair is [string, string] => typeof pair[1] === "string");
}
