import { resolve, join } from "node:path";
import { visible } from "../../text/visible.ts";
import { defineCommand, FLAGS, type Command, type Option, type Options } from "../command/command.ts";
import { placesOf } from "../configure/configured-servers.ts";
import { commandWords } from "../command/command-line.ts";
import { findCommand, CATALOG, listedCommands } from "../catalog.ts";
import { SHELLS } from "./completion.ts";
import { CLIENT_IDS, INSTALL_CLIENTS } from "../../config/import/clients.ts";
import { candidates, type ConfigContext } from "../../config/read/places.ts";
import { Sightings } from "../command/sightings.ts";

/** More are not useful: then the server is completed first. */
const MANY = 50;
/** The forms of a full name, by their beginning. */
const SPELLINGS = [
  { start: "mcp__", before: "mcp__", between: "__" },
  { start: "mcp:", before: "mcp:", between: "." },
  { start: "", before: "", between: "." },
];
/** The kinds of a command's words, in order. */
const WORDS: Readonly<Record<string, readonly Kind[]>> = {
  "mcp connect": ["server"],
  "mcp tools": ["server"],
  "mcp resources": ["server"],
  "mcp templates": ["server"],
  "mcp prompts": ["server"],
  "mcp call": ["tool"],
  "mcp read": ["server"],
  "mcp prompt": ["prompt"],
  "mcp complete": ["server"],
  "mcp watch": ["server"],
  "mcp ping": ["server"],
  "mcp request": ["server"],
  "mcp remove": ["server"],
  "mcp enable": ["server"],
  "mcp disable": ["server"],
  "mcp export": ["server"],
  "mcp install": ["install client"],
  "mcp uninstall": ["install client"],
  "mcp explain": ["server"],
  "mcp trust": ["folders"],
  "mcp login": ["server"],
  "mcp logout": ["server"],
  "mcp doctor": ["server"],
  "mcp servers": ["server"],
  "mcp retry": ["server"],
  "api files": ["server"],
  "mcp logs": ["server"],
  "mcp changes show": ["tool"],
  "mcp changes accept": ["tool"],
  "consent forget": ["tool"],
  "secrets set": ["secret"],
  "secrets allow": ["secret"],
  "secrets remove": ["secret"],
  "new server": ["folders"],
  "new client": ["folders"],
  completion: ["shell"],
};

/** nexus complete-words -- mcp call gith */
export const completeWords = defineCommand({
  usage: "nexus complete-words [--next] -- <word>…",
  description: `
Used by the scripts of "nexus completion". Prints one line for each possible word at the cursor, with its description after
a tab, or ":files" or ":folders" if the shell should complete paths. The last word is the one at the cursor. Starts no
server, asks nothing, and ignores errors.`,
  options: { next: { type: "boolean", help: "the cursor is after the last word" } },
  examples: [["nexus complete-words -- mcp call github.", "names of the known tools of github"]],

  async run(context) {
    const { words, options, out, surroundings, stateFolder } = context;
    const current = options.next ? "" : (words.at(-1) ?? "");
    const before = options.next ? words : words.slice(0, -1);
    const listSecrets = async () => {
      const { secretStore } = await import("../../host/servers/load-options.ts");
      const { secrets } = await secretStore(surroundings, stateFolder).list();
      return secrets.map(({ name }) => name);
    };
    try {
      const found = await suggest({ words: before, current }, (config) => {
        const explicit = config === undefined ? undefined : resolve(config);
        return knownNames({ places: placesOf(context), stateFolder, explicit, listSecrets });
      });
      const suggestions = typeof found === "string" ? [{ value: `:${found}` }] : found;
      if (out.json) return out.value({ items: suggestions });
      for (const { value, description } of suggestions) {
        out.line(description === undefined ? value : `${value}\t${visible(description)}`);
      }
    } catch {
      // An error message would disturb the line in which the user pressed Tab.
    }
  },
});

interface Suggestion {
  value: string;
  description?: string | undefined;
}

/** The suggestions at the cursor; the shell itself completes files and folders. */
type Suggestions = readonly Suggestion[] | "files" | "folders";

type Kind =
  | "server"
  | "tool"
  | "prompt"
  | "secret"
  | "shell"
  | "client"
  | "install client"
  | "bare tool"
  | "bare prompt"
  | "files"
  | "folders";

interface Line {
  /** The words before the cursor, without the program's name. */
  words: readonly string[];
  /** The word at the cursor, up to the cursor. */
  current: string;
}

/** The suggestions at the cursor. `namesFor` receives the file of --config, if given. */
async function suggest(line: Line, namesFor: (config: string | undefined) => CompletionNames): Promise<Suggestions> {
  const words = line.words[0] === "help" ? line.words.slice(1) : line.words;
  const { current } = line;
  const spoken = commandWords(words);
  const name = findCommand(spoken);
  const command: Pick<Command, "options"> | undefined = name === undefined ? undefined : await CATALOG[name]?.load();
  const own = name?.split(" ").length ?? 0;
  const {
    expected,
    given,
    spoken: [first],
  } = expectedWord({ words, current, own }, command ?? { options: {} });

  if (expected.kind === "rest") return "files";
  if (expected.kind === "option") return matching(current, optionNames(expected.options));
  const prefix = expected.kind === "value" ? expected.prefix : "";
  if (expected.kind === "word" && name === undefined) return matching(current, commandNames(spoken));
  // For commands that accept a server in place instead of a name.
  const isInPlace = command?.options["stdio"]?.type === "string" && (given.has("stdio") || given.has("url"));
  const kind =
    expected.kind === "value"
      ? kindOfValue(expected.name, expected.option)
      : isInPlace
        ? undefined
        : wordKind(name, expected.index);
  if (kind === undefined) return [];
  if (kind === "files" || kind === "folders") return kind;

  const sought = current.slice(prefix.length);
  const found = await namesOf(kind, {
    sought,
    server: given.get("server") ?? first,
    names: namesFor(given.get("config")),
  });
  return matching(sought, found).map(({ value, description }) => ({ value: prefix + value, description }));
}

function wordKind(name: string | undefined, index: number): Kind | undefined {
  return name !== undefined && Object.hasOwn(WORDS, name) ? WORDS[name]?.[index] : undefined;
}

function kindOfValue(name: string, { value }: Option): Kind | undefined {
  if (value === "FILE") return "files";
  if (value === "DIR" || value === "FOLDER") return "folders";
  if (name === "server") return "server";
  if (name === "name") return "bare tool";
  if (name === "prompt") return "bare prompt";
  if (name === "for") return "install client";
  return name === "from" ? "client" : undefined;
}

interface Search {
  sought: string;
  /** The server of names without a server. */
  server: string | undefined;
  names: CompletionNames;
}

async function namesOf(kind: Exclude<Kind, "files" | "folders">, search: Search): Promise<Suggestion[]> {
  const { sought, server, names } = search;
  switch (kind) {
    case "server":
      return [...(await names.servers())].map(([value, layer]) => ({ value, description: `${layer} server` }));
    case "tool":
      return qualifiedNames(sought, "tools", names);
    case "prompt":
      return qualifiedNames(sought, "prompts", names);
    case "bare tool":
      return plain(server === undefined ? [] : await names.seen(server, "tools"));
    case "bare prompt":
      return plain(server === undefined ? [] : await names.seen(server, "prompts"));
    case "secret":
      return plain(await names.secrets());
    case "shell":
      return plain(SHELLS);
    case "client":
      return plain(CLIENT_IDS);
    case "install client":
      return plain(INSTALL_CLIENTS);
  }
}

function commandNames(spoken: readonly string[]): Suggestion[] {
  const found = new Map<string, string | undefined>();
  for (const [name, { summary }] of listedCommands()) {
    const parts = name.split(" ");
    const next = parts[spoken.length];
    if (next === undefined || spoken.some((word, index) => parts[index] !== word)) continue;
    found.set(next, parts.length === spoken.length + 1 ? summary : undefined);
  }
  return [...found].map(([value, description]) => ({ value, description }));
}

function optionNames(options: Options): Suggestion[] {
  return Object.entries(options).map(([name, { help }]) => ({ value: `--${name}`, description: help }));
}

function plain(values: readonly string[] = []): Suggestion[] {
  return values.map((value) => ({ value }));
}

/** Names come from servers: control characters in them could control the shell. */
function matching(start: string, suggestions: readonly Suggestion[]): Suggestion[] {
  return suggestions.filter(({ value }) => value.startsWith(start) && !/\p{Cc}/u.test(value));
}

/** What is expected at the cursor. */
type ExpectedWord =
  /** A word of the command, by its index. */
  | { kind: "word"; index: number }
  /** The name of an option that can still be given. */
  | { kind: "option"; options: Options }
  /** The value of an option; `prefix` comes before it in the same word. */
  | { kind: "value"; name: string; option: Option; prefix: string }
  /** After `--`. */
  | { kind: "rest" };

interface Situation {
  expected: ExpectedWord;
  /** The values given so far. */
  given: ReadonlyMap<string, string>;
  /** The words given so far, after the command's name. */
  spoken: readonly string[];
}

/** Finds what is expected after `words`, of which the first `own` are the command's name. */
export function expectedWord(
  { words, current, own }: { words: readonly string[]; current: string; own: number },
  command: Pick<Command, "options">,
): Situation {
  const options: Options = { ...FLAGS, ...command.options };
  const given = new Map<string, string>();
  const positionals: string[] = [];
  const situation = (expected: ExpectedWord): Situation => ({ expected, given, spoken: positionals.slice(own) });
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (word === "--") return situation({ kind: "rest" });
    const { name, value, option } = optionIn(word, options) ?? {};
    if (name === undefined) positionals.push(word);
    else if (option?.type !== "string" || value !== undefined) given.set(name, value ?? "");
    else if (at + 1 === words.length) return situation({ kind: "value", name, option, prefix: "" });
    else given.set(name, words[++at] ?? "");
  }

  const { name, value, option } = optionIn(current, options) ?? {};
  if (name !== undefined && value !== undefined && option?.type === "string") {
    return situation({ kind: "value", name, option, prefix: `--${name}=` });
  }
  if (current.startsWith("-")) {
    const open = Object.entries(options).filter(([key, { multiple }]) => multiple || !given.has(key));
    return situation({ kind: "option", options: Object.fromEntries(open) });
  }
  return situation({ kind: "word", index: positionals.length - own });
}

interface WrittenOption {
  name: string;
  value: string | undefined;
  /** Undefined if the command has no option of that name. */
  option: Option | undefined;
}

function optionIn(word: string, options: Options): WrittenOption | undefined {
  const [, dashes, written, , value] = /^(--?)([\w-]+)(=([\s\S]*))?$/.exec(word) ?? [];
  if (written === undefined) return undefined;
  const [name, option] =
    Object.entries(options).find(([key, { short }]) => (dashes === "--" ? key : short) === written) ?? [];
  return { name: name ?? written, value, option };
}

/** Full names of tools or prompts, in the form that was begun. */
async function qualifiedNames(
  current: string,
  kind: "tools" | "prompts",
  names: Pick<CompletionNames, "servers" | "seen">,
): Promise<Suggestion[]> {
  const spelling = SPELLINGS.find(({ start }) => current.startsWith(start));
  const { before = "", between = "." } = spelling ?? {};
  const ids = [...(await names.servers()).keys()];
  const beginnings = ids
    .map((id) => ({ id, beginning: `${before}${id}${between}` }))
    .filter(({ beginning }) => beginning.startsWith(current) || current.startsWith(beginning));

  const found = await Promise.all(
    beginnings.map(async ({ id, beginning }) => {
      const seen = await names.seen(id, kind);
      // The server was never asked, so only its own name is known.
      if (!seen) return [{ value: beginning, description: `run nexus mcp ${kind} ${id} to complete its names` }];
      return seen.map((name): Suggestion => ({ value: beginning + name }));
    }),
  );
  const all = found.flat();
  if (beginnings.length === 1 || all.length <= MANY) return all;
  return beginnings.flatMap(({ beginning }, index) => {
    const count = found[index]?.length ?? 0;
    return count === 0 ? [] : [{ value: beginning, description: `${count} ${kind}` }];
  });
}

/** Names for completion. All come from files: nothing is started, asked or resolved. */
interface CompletionNames {
  /** Servers, with the layer of their configuration. */
  servers(): Promise<ReadonlyMap<string, string>>;
  /** The names last seen of a server; undefined if there are none. */
  seen(server: string, kind: "tools" | "prompts"): Promise<readonly string[] | undefined>;
  secrets(): Promise<readonly string[]>;
}

interface NameSources {
  places: ConfigContext;
  stateFolder: string;
  /** The file of --config. */
  explicit: string | undefined;
  listSecrets: () => Promise<readonly string[]>;
}

function knownNames({ places, stateFolder, explicit, listSecrets }: NameSources): CompletionNames {
  const sightings = new Sightings(join(stateFolder, "seen"));
  return {
    servers: () => serverNames(places, explicit),
    seen: async (server, kind) => {
      const names: unknown = (await sightings.last(server))?.[kind];
      return Array.isArray(names) ? names.filter((name) => typeof name === "string") : undefined;
    },
    secrets: listSecrets,
  };
}

async function serverNames(places: ConfigContext, explicit: string | undefined): Promise<Map<string, string>> {
  const { loadWrittenIds } = await import("./written-ids.ts");
  const files = explicit === undefined ? candidates(places) : [{ file: explicit, layer: "explicit" }];
  const names = new Map<string, string>();
  for (const { file, layer } of files) {
    for (const id of await loadWrittenIds(file)) if (!names.has(id)) names.set(id, layer);
  }
  return new Map([...names].sort(([a], [b]) => (a < b ? -1 : 1)));
}
