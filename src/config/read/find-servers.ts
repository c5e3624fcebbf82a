import { nearestName } from "../../text/nearest-name.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { formatOf } from "./read-source.ts";
import { findMember, plainValue, type Member, type Place, type SourceNode } from "../../source/source-node.ts";
import type { ConfigWarning } from "./problem.ts";

/** One entry as it is in a file, before it is interpreted. */
export interface FoundServer {
  /** A key, or the `id` or `name` of a list item; undefined if an item has none. */
  name: string | undefined;
  place: Place;
  node: SourceNode;
  /** From the root of the file to the entry. */
  path: readonly (string | number)[];
  section: Section;
}

/** A part of a file with servers, and its settings for all of them. */
export interface Section {
  /** Its name for people: `mcp.servers`. */
  name: string;
  path: readonly string[];
  enabled: boolean;
  /** The default for its entries. */
  autoStart: boolean;
  /** `connection_timeout` of the section, for entries that have none. */
  connectionTimeout?: Member | undefined;
  /** opencode has keys of its own with other meanings. */
  dialect: "common" | "opencode";
}

/** An input of VS Code, whose answer replaces `${input:id}`. */
export interface InputDefinition {
  id: string;
  description?: string | undefined;
  password: boolean;
  default?: string | undefined;
}

export interface FoundServers {
  servers: FoundServer[];
  inputs: InputDefinition[];
  warnings: ConfigWarning[];
}

/** Keys of sections with servers; Codex, Zed and Amp have their own. */
const PLAIN_SECTIONS = ["mcpServers", "servers", "mcp_servers", "context_servers", "amp.mcpServers"];
const SECTIONS = [...PLAIN_SECTIONS, "mcp"];

/**
 * Maximum number of servers and inputs in one file: each costs time and a line of output, even before the file is
 * trusted.
 */
const MAX_ENTRIES = 1_000;

const MAX_WARNINGS = 20;

/** Finds the servers in a file of any program. */
export function findServers(root: SourceNode, file: string, { maxEntries = MAX_ENTRIES } = {}): FoundServers {
  const finder = new Finder(file, maxEntries);
  if (root.kind !== "object") throw finder.wrong("The file", root.place, `is not an object`);
  for (const key of PLAIN_SECTIONS) {
    const member = findMember(root, key);
    if (member) finder.section(member, section({ name: key, path: [key] }));
  }
  const mcp = findMember(root, "mcp");
  if (mcp) finder.mcp(mcp);
  finder.inputs(findMember(root, "inputs")?.node);
  finder.settle();
  if (!SECTIONS.some((key) => findMember(root, key))) finder.missing(root);
  else finder.misspelt(root);
  return finder.found;
}

function section(given: Pick<Section, "name" | "path"> & Partial<Section>): Section {
  return { enabled: true, autoStart: true, dialect: "common", ...given };
}

class Finder {
  readonly found: FoundServers = { servers: [], inputs: [], warnings: [] };
  readonly #file: string;
  readonly #maxEntries: number;
  #hasSection = false;
  readonly #wrong: NexusError[] = [];

  constructor(file: string, maxEntries: number) {
    this.#file = file;
    this.#maxEntries = maxEntries;
  }

  section({ node, place }: Pick<Member, "node" | "place">, section: Section): void {
    if (node.kind === "scalar" && node.value !== null) {
      this.#wrong.push(this.wrong(`"${section.name}"`, place, "is neither an object nor a list of servers"));
      return;
    }
    this.#hasSection = true;
    if (node.kind === "object") {
      for (const { key, place, node: entry } of node.members) {
        this.#add({ name: key, place, node: entry, path: [...section.path, key], section });
      }
    } else if (node.kind === "list") {
      for (const [index, item] of node.items.entries()) {
        const name = plainText(findMember(item, "id")) ?? plainText(findMember(item, "name"));
        this.#add({ name, place: item.place, node: item, path: [...section.path, index], section });
      }
    }
  }

  /** `mcp` contains a list of servers (YAML form, settings of VS Code) or is one itself (opencode). */
  mcp(mcp: Member): void {
    const servers = findMember(mcp.node, "servers");
    const enabled = findMember(mcp.node, "enabled")?.node;
    const on = !(enabled?.kind === "scalar" && enabled.value === false);
    if (servers) {
      const autoStart = formatOf(this.#file) !== "yaml";
      const connectionTimeout = inSeconds(findMember(mcp.node, "connection_timeout"));
      const its = { name: "mcp.servers", path: ["mcp", "servers"], enabled: on, autoStart, connectionTimeout };
      this.section(servers, section(its));
      this.inputs(findMember(mcp.node, "inputs")?.node);
    } else if (mcp.node.kind === "object") {
      const members = mcp.node.members.filter(({ node }) => node.kind === "object");
      const node: SourceNode = { ...mcp.node, members };
      this.section({ ...mcp, node }, section({ name: "mcp", path: ["mcp"], enabled: on, dialect: "opencode" }));
    }
  }

  inputs(node: SourceNode | undefined): void {
    if (node?.kind !== "list") return;
    for (const item of node.items) {
      const id = plainText(findMember(item, "id"));
      if (id === undefined) continue;
      if (this.found.inputs.length === this.#maxEntries) throw this.#tooMany("inputs", item.place);
      this.found.inputs.push({
        id,
        description: plainText(findMember(item, "description")),
        password: isTrue(findMember(item, "password")),
        default: plainText(findMember(item, "default")),
      });
    }
  }

  /** Errors outside a valid section are ignored: they belong to another program or affect nothing else. */
  settle(): void {
    const [first] = this.#wrong;
    if (first && !this.#hasSection) throw first;
    for (const { message, details } of this.#wrong) {
      const { line = 1, column = 1 } = details.source ?? {};
      this.#warn(`${message}; it has no effect`, { line, column });
    }
  }

  /** Reports only keys that are nearly the name of a section, because other programs keep much else in their files. */
  misspelt(root: SourceNode): void {
    if (root.kind !== "object") return;
    for (const { key, place } of root.members) {
      if (this.found.warnings.length > MAX_WARNINGS) return;
      const meant = SECTIONS.includes(key) ? undefined : nearestName(key, SECTIONS);
      if (meant) this.#warn(`Unknown key "${key}"; did you mean "${meant}"?`, place);
    }
  }

  missing(root: SourceNode): void {
    if (root.kind !== "object" || root.members.length === 0) return;
    const before = this.found.warnings.length;
    this.misspelt(root);
    if (this.found.warnings.length > before) return;
    const bare = root.members.find(({ node }) => findMember(node, "command") ?? findMember(node, "url"));
    if (bare) {
      const message = `"${bare.key}" looks like a server but is outside "mcpServers": { "mcpServers": { "${bare.key}": … } }`;
      this.#warn(message, bare.place);
    }
  }

  wrong(what: string, place: Place, problem: string): NexusError {
    return new NexusError("CONFIG_INVALID", `${what} ${problem}`, {
      phase: "config",
      source: { file: this.#file, ...place },
      hint: `Write { "mcpServers": { "files": { "command": "node", "args": ["server.js"] } } }.`,
      mayHaveReached: false,
    });
  }

  #add(server: FoundServer): void {
    if (this.found.servers.length === this.#maxEntries) throw this.#tooMany("servers", server.place);
    this.found.servers.push(server);
  }

  #tooMany(what: string, place: Place): NexusError {
    return new NexusError("CONFIG_INVALID", `The file has more than ${this.#maxEntries} ${what} (limit)`, {
      phase: "config",
      source: { file: this.#file, ...place },
      hint: "Remove unused entries, or split the file.",
      mayHaveReached: false,
    });
  }

  #warn(message: string, place: Place): void {
    this.found.warnings.push({ message, source: { file: this.#file, ...place } });
  }
}

/** The programs with this setting count it in seconds. */
function inSeconds(member: Member | undefined): Member | undefined {
  if (member?.node.kind !== "scalar" || typeof member.node.value !== "number") return member;
  return { ...member, node: { ...member.node, value: `${member.node.value}s` } };
}

function isTrue(member: Member | undefined): boolean {
  return member?.node.kind === "scalar" && member.node.value === true;
}

function plainText(member: Member | undefined): string | undefined {
  const value = member && plainValue(member.node);
  return typeof value === "string" && value !== "" ? value : undefined;
}
