import { messageOf, NexusError } from "../../../errors/nexus-error.ts";
import { mayBeSecretName } from "../../../masking/secret-names.ts";
import { maskExample, looksSecret } from "../../../masking/find-secrets.ts";
import { collectionOf, requestItem } from "./curl-collection.ts";
import { readCurlCommand } from "./curl-request.ts";

/** Requests that were recorded or written down, as a collection without the values of credentials. */
export interface RecordedRequests {
  collection: Record<string, unknown>;
  /** What was left out or replaced, for people. */
  remarks: string[];
}

/** A command with the lines of its comment. */
interface Command {
  line: number;
  text: string;
  comment: string[];
}

const MAX_COMMANDS = 2_000;
const MAX_REMARKS = 20;
const BEGIN = /^\s*(?:\$ )?curl(?:\.exe)?\s/;

/**
 * The curl commands of a text, such as a shell script. Nothing is executed: `$NAME` is a variable, and whatever else is in
 * the text is passed over. The comment before a command is its title and description.
 */
export function curlsCollection(text: string, name: string): RecordedRequests {
  const { commands, variables, remarks } = readCommands(text.split("\n"));
  const items = commands.slice(0, MAX_COMMANDS).flatMap(({ line, text: command, comment }) => {
    const [title = "", ...more] = comment.map((each) => maskExample(each).slice(0, 300));
    try {
      const request = readCurlCommand(command);
      const description = [title, ...more].join("\n");
      return [requestItem(request, { name: title.slice(0, 100), ...(more.length > 0 && { description }) })];
    } catch (error) {
      if (!(error instanceof NexusError)) throw error;
      remarks.push(`The command in line ${line} was left out: ${messageOf(error)}.`);
      return [];
    }
  });
  if (items.length === 0) {
    throw new NexusError("CONFIG_INVALID", `The document ${name} has no curl command that can be read`, {
      phase: "config",
      hint: remarks[0] ?? "Each command begins in a line of its own, like: curl https://api.example/orders",
      mayHaveReached: false,
    });
  }
  if (commands.length > MAX_COMMANDS) remarks.push(`Only the first ${MAX_COMMANDS} commands were read.`);
  const kept = "The commands are kept as a collection in which credentials are variables: their values are not in it.";
  return { collection: collectionOf(name, items, variables), remarks: [kept, ...remarks.slice(0, MAX_REMARKS)] };
}

function readCommands(lines: readonly string[]): {
  commands: Command[];
  variables: { key: string; value: string }[];
  remarks: string[];
} {
  const commands: Command[] = [];
  const variables = new Map<string, string>();
  const remarks: string[] = [];
  let comment: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const [, said] = /^\s*#+!?\s*(.*?)\s*$/.exec(line.slice(0, 2_000)) ?? [];
    const [, key, value = ""] = /^\s*(?:export\s+)?([A-Za-z_]\w*)=(.{0,2000})$/.exec(line) ?? [];
    if (BEGIN.test(line.slice(0, 200))) {
      const end = endOf(lines, at);
      if (end === undefined) remarks.push(`The quotes of the command in line ${at + 1} do not end; it was left out.`);
      else commands.push({ line: at + 1, text: lines.slice(at, end + 1).join("\n"), comment });
      at = end ?? at;
      comment = [];
    } else if (said !== undefined && !line.startsWith("#!")) {
      if (said !== "" && comment.length < 20) comment.push(said);
    } else {
      if (key !== undefined) variables.set(key, plainValue(key, value));
      comment = [];
    }
  }
  const known = [...variables].filter(([, value]) => value !== "").map(([key, value]) => ({ key, value }));
  return { commands, variables: known, remarks };
}

/** The value of `NAME=value`; empty for credentials and for what a shell would compute. */
function plainValue(name: string, written: string): string {
  const [, double, single, bare] = /^(?:"([^"]*)"|'([^']*)'|(\S*))/.exec(written.trim()) ?? [];
  const value = double ?? single ?? bare ?? "";
  // The address of a server for logins is not a credential.
  if (/^https?:\/\/[^?#@]*$/i.test(value) && !/[$`]/.test(value)) return value;
  return /[$`]/.test(value) || /\/\/[^/?#]*@/.test(value) || mayBeSecretName(name) || looksSecret(value) ? "" : value;
}

/** The last line of a command: quotes are closed there, and nothing says that it goes on. */
function endOf(lines: readonly string[], from: number): number | undefined {
  let quote = "";
  for (let at = from; at < lines.length; at++) {
    const line = lines[at] ?? "";
    quote = quoteAfter(line, quote);
    if (quote === "" && !/[\\^`][ \t]*$/.test(line)) return at;
  }
  return quote === "" ? lines.length - 1 : undefined;
}

function quoteAfter(line: string, before: string): string {
  let quote = before;
  for (let at = 0; at < line.length; at++) {
    const sign = line[at];
    // In single quotes nothing is special.
    if (sign === "\\" && quote !== "'") at += 1;
    else if (quote === "" && (sign === "'" || sign === '"')) quote = line[at - 1] === "$" && sign === "'" ? "$'" : sign;
    else if (quote === sign || (quote === "$'" && sign === "'")) quote = "";
  }
  return quote;
}
