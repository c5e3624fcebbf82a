import { isRecord } from "../../json/is-record.ts";
import { parseJson } from "../../json/parse-json.ts";
import type { NexusError } from "../../errors/nexus-error.ts";
import { quoteWord } from "../../text/shell-words.ts";

/** Keys of an entry in hints, and the options that set the same for a server in place. Longer texts come first. */
const WORDINGS: readonly (readonly [ofEntry: string, ofOptions: string])[] = [
  [
    `Add the credentials to the entry's "headers", for example { "Authorization": "Bearer …" }.`,
    `Add the credentials: --header "Authorization: Bearer …".`,
  ],
  [`Check "Authorization" in the entry's "headers"`, `Check --header "Authorization: …"`],
  [`add it to the entry's "headers"`, `add it: --header "Authorization: Bearer …"`],
  [`"args": ["-y", "--package", "<package>", "<program>"]`, `--stdio "npx -y --package <package> <program>"`],
  [`add "env_passthrough": ["HTTPS_PROXY"] to the entry`, "add --env HTTPS_PROXY=…"],
  [`Set them in the entry's "env" or "args"`, "Set them with --env or in the command of --stdio"],
  [`in the entry's "env" or "args"`, "in --env or in the command of --stdio"],
  [`in the entry's "env"`, "with --env"],
  [`to the entry's "env"`, "with --env"],
  [`Check "command" and "args".`, "Check the command of --stdio."],
  [`set "command" to`, "start --stdio with"],
  [`Set "command" to`, "Start --stdio with"],
  [`"command" also contains the arguments.`, "The command of --stdio has quotes around the program and its arguments."],
  [`Move the arguments to "args".`, "Remove the inner quotes."],
  [`in "args"`, "in the command of --stdio"],
  [`from "cwd"`, "from the current folder"],
  [`raise "connection_timeout"`, "raise --timeout"],
  ["configure its URL", "use --url"],
];

/** The same error for a server on the command line, which has options and no entry. */
export function withOptionHints(error: NexusError): NexusError {
  const { hint, likelyCause, snippet } = error.details;
  return error.amended({
    hint: hint && inOptions(hint),
    likelyCause: likelyCause && inOptions(likelyCause),
    snippet: snippet && snippetInOptions(snippet),
  });
}

function inOptions(text: string): string {
  return WORDINGS.reduce((result, [ofEntry, ofOptions]) => result.replaceAll(ofEntry, ofOptions), text);
}

/** `"command": "node", "args": ["a.js"]` as `--stdio 'node a.js'`; another text stays as it is. */
function snippetInOptions(snippet: string): string {
  const entry = parseJson(`{${snippet}}`);
  if (!isRecord(entry)) return snippet;
  const { command, args, url, headers, env } = entry;
  const words = [command, args].flat().filter((word) => typeof word === "string");
  const options = [
    ...(words.length === 0 ? [] : [`--stdio ${quoteWord(words.map((word) => quoteWord(word)).join(" "))}`]),
    ...(typeof url === "string" ? [`--url ${quoteWord(url)}`] : []),
    // In double quotes, so that the shell replaces ${NAME}.
    ...textsIn(headers).map(([name, value]) => `--header "${name}: ${value}"`),
    ...textsIn(env).map(([name, value]) => `--env ${name}="${value}"`),
  ];
  return options.length === 0 ? snippet : options.join(" ");
}

function textsIn(value: unknown): [string, string][] {
  return isRecord(value) ? Object.entries(value).map(([name, text]) => [name, String(text)]) : [];
}
