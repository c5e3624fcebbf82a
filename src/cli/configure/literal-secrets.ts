import { isRecord } from "../../json/is-record.ts";
import { mayBeSecretName } from "../../masking/secret-names.ts";

/** A value in an entry that looks like a literal secret. */
interface LiteralSecret {
  /** Its place for people: `env GITHUB_TOKEN`, `header Authorization`. */
  where: string;
  /** A name for storing it. */
  name: string;
  /** The text to write instead; of an argument, the variable that can take its place. */
  instead: string;
  isArgument?: boolean;
}

/** Finds secrets that should not be in a file: files are copied, shown and committed. */
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
      if (option === undefined) return [];
      const before = `${name.toUpperCase().replaceAll("-", "_")}=`;
      return found(name, value, { where: `argument --${name}`, before }).map((secret) => ({
        ...secret,
        isArgument: true,
      }));
    }),
  ];
}

/** What to type instead. */
export function adviceAbout({ where, name, instead, isArgument = false }: LiteralSecret): string {
  if (isArgument) {
    return `${where} looks like a secret, is stored in the file as plain text, and other users of the machine can see it. If the program can read it from a variable, run nexus secrets set ${name}, and write --env '${instead}'`;
  }
  return `${where} looks like a secret and is stored in the file as plain text. Better: run nexus secrets set ${name}, and write '${instead}'`;
}

function found(name: string, value: string, { where, before }: { where: string; before: string }): LiteralSecret[] {
  // References are correct; a path only leads to a secret.
  const isHarmless = value === "" || value.includes("${") || /^(?:[/~.]|[A-Za-z]:\\)/.test(value);
  if (isHarmless || !mayBeSecretName(name)) return [];
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
