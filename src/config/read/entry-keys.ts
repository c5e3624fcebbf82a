import type { KnownWords } from "../../source/masked-line.ts";
import { allNames, HOST_ENTRY, memberKeys } from "../../transport/entry-form.ts";

/** Keys of an entry that Nexus uses, in all spellings. */
export const OWN_KEYS = memberKeys(HOST_ENTRY);

const SECTIONS = ["mcpServers", "servers", "mcp_servers", "mcp", "inputs"];
/** Made for the first excerpt. */
let names: ReadonlySet<string> | undefined;
const SHOWN = new Set(["command", "type", "transport", "id", "name"]);

/** The words that an excerpt of a configuration file may show. */
export const CONFIG_WORDS: KnownWords = {
  isName: (word) =>
    (names ??= new Set([...allNames(HOST_ENTRY), ...SECTIONS, "true", "false", "null"])).has(word) ||
    word.startsWith("mcp_servers."),
  isShown: (name) => SHOWN.has(name),
};
