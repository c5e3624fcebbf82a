import { hasTrait, HOST_ENTRY } from "../../transport/entry-form.ts";

/**
 * Says by the keys that lead to a text whether it may have a secret. `after-host`: in an address, in its path and its
 * query.
 */
export type SecretPlaces = (path: readonly string[]) => "anywhere" | "after-host" | "nowhere";

/**
 * The texts of an entry in which `${secret:…}` is filled: those that are sent as they are and shown to nobody. A name is
 * shown to everybody, arguments to all users of the machine, and a host to name servers and proxies.
 */
export const inEntry: SecretPlaces = (path) => {
  if (path[0] === "url") return "after-host";
  return hasTrait(HOST_ENTRY, path, "secret") ? "anywhere" : "nowhere";
};

/**
 * Whether what follows this beginning of an address is in its path or its query: a complete scheme and host, and the
 * beginning of one of them. What `URL` leaves out of a host, such as a second slash, does not end one here.
 */
export function isAfterHost(beginning: string): boolean {
  return /^[a-z][a-z\d+.-]*:\/\/[^\p{Cc}\s/?#\\]+[/?][^#]*$/iu.test(beginning);
}

/** Longer ones are not the scheme and the host of an address. */
const LONGEST_BEGINNING = 2_000;

/** A beginning that says the same about what follows, and is short: it is read again at every reference in an address. */
export function shortBeginning(beginning: string): string {
  if (isAfterHost(beginning)) return "https://host/";
  return beginning.length > LONGEST_BEGINNING || beginning.includes("#") ? "#" : beginning;
}

/** A secret where none is filled: what is wrong, and what to do. `reference`: without its default, which may be secret. */
export function misplacedSecret(reference: string, path: readonly string[]): { what: string; hint: string } {
  const [key = ""] = path;
  const named = `"${path.filter((step) => !/^\d+$/.test(step)).join(".")}"`;
  if (key === "url") {
    return {
      what: `"url" has ${reference} outside of its path and its query`,
      hint: `Write the host in plain text, or send the secret in "headers": { "Authorization": "Bearer ${reference}" }.`,
    };
  }
  const what = `${named} has ${reference}, and a secret is not filled in there`;
  if (key === "args" || key === "command") {
    const hint = `Other users of the machine can see arguments. Pass it in "env" instead, if the program can read it there: "env": { "NAME": "${reference}" }.`;
    return { what, hint };
  }
  return { what, hint: key === "baseUrl" ? `Use secrets in "apiKey" and "headers".` : USABLE };
}

const USABLE = `Secrets are used in "env", "headers", the path and the query of "url", and in "oauth" as clientSecret, privateKey, assertion and idToken. Write this text as it is, or use a variable: \${NAME}.`;
