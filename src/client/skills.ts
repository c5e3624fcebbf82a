import { NexusError } from "../errors/nexus-error.ts";
import { isRecord } from "../json/is-record.ts";
import type { Params } from "../protocol/json-rpc.ts";
import type { ResourceContents } from "../protocol/mcp.ts";
import { SKILLS_EXTENSION } from "../protocol/meta.ts";
import { decodeUtf8, encodeUtf8, fromBase64, toHex } from "../text/bytes.ts";
import type { CallOptions } from "./conversation/call-scope.ts";
import type { Requester } from "./conversation/requester.ts";
import { readPages } from "./conversation/lists.ts";

/** A skill in the server's list, with the digests of its files. */
export interface SkillEntry {
  /** The URI of its SKILL.md. */
  uri: string;
  frontmatter: Record<string, unknown>;
  resources?: { uri: string; digest?: string; size?: number; [member: string]: unknown }[];
  [member: string]: unknown;
}

/** A skill whose SKILL.md was read and matches the list. */
export interface Skill {
  entry: SkillEntry;
  /** SKILL.md without its front matter. */
  body: string;
  /** Reads and checks another file of the skill. */
  read(uri: string, options?: CallOptions): Promise<ResourceContents>;
}

const FRONT_MATTER = /^---\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;

/** The skills extension: listing reads no file; files are checked before they are returned. */
export class Skills {
  readonly #requester: Requester;

  constructor(requester: Requester) {
    this.#requester = requester;
  }

  async list(options?: CallOptions): Promise<SkillEntry[]> {
    const call = { method: "skills/list", options, extensions: EXTENSION };
    return this.#requester.inScope(call, async (scope) => {
      const read = (params: Params | undefined) => this.#requester.conversation.exchange(call.method, params, scope);
      const skills = (await readPages(call.method, "skills", read)).filter(isRecord);
      const broken = skills.find((entry) => typeof entry["uri"] !== "string" || !isRecord(entry["frontmatter"]));
      if (!broken) return skills as unknown as SkillEntry[];
      throw new NexusError("PROTOCOL_VIOLATION", "A skill is listed without a uri or front matter", { raw: broken });
    });
  }

  /** Reads a skill's SKILL.md; throws if its size, digest or front matter differ from the entry. */
  async load(entry: SkillEntry, options?: CallOptions): Promise<Skill> {
    const contents = await this.#read(entry, entry.uri, options);
    const text = contents.text ?? decodeUtf8(fromBase64(contents.blob ?? ""));
    const [whole = "", yaml = ""] = FRONT_MATTER.exec(text) ?? [];
    const { parseYaml } = await import("../source/bounded-yaml.ts");
    const found: unknown = parseOr(() => parseYaml(yaml), {});
    for (const name of new Set([...Object.keys(entry.frontmatter), ...Object.keys(isRecord(found) ? found : {})])) {
      const value = isRecord(found) ? found[name] : undefined;
      if (!isSame(value, entry.frontmatter[name])) throw mismatch(entry.uri, `front matter "${name}"`);
    }
    return { entry, body: text.slice(whole.length), read: (uri, more) => this.#read(entry, uri, more) };
  }

  async #read(entry: SkillEntry, uri: string, options: CallOptions | undefined): Promise<ResourceContents> {
    const listed = entry.resources?.find((resource) => resource.uri === uri);
    if (!listed && uri !== entry.uri) {
      throw new NexusError("CONFIG_INVALID", `${uri} is not a file of the skill ${entry.uri}`, {
        mayHaveReached: false,
      });
    }
    const result = await this.#requester.rounds({ method: "resources/read", params: { uri }, options });
    const contents = (result["contents"] as ResourceContents[] | undefined)?.[0];
    if (contents?.uri !== uri)
      throw new NexusError("PROTOCOL_VIOLATION", `the answer for ${uri} has no contents`, { raw: result });
    const bytes = contents.blob === undefined ? encodeUtf8(contents.text ?? "") : fromBase64(contents.blob);
    if (listed?.size !== undefined && listed.size !== bytes.length) throw mismatch(uri, "size");
    const expected = listed?.digest;
    if (expected !== undefined && expected !== (await digestOf(bytes, expected))) throw mismatch(uri, "digest");
    return contents;
  }
}

const EXTENSION = { [SKILLS_EXTENSION]: {} };

/** Uses the algorithm of the expected digest, "sha256:…"; an unknown algorithm matches nothing. */
async function digestOf(bytes: Uint8Array<ArrayBuffer>, expected: string): Promise<string> {
  const [kind = ""] = expected.split(":", 1);
  if (kind !== "sha256" && kind !== "sha512") return "";
  const digest = await crypto.subtle.digest(kind === "sha256" ? "SHA-256" : "SHA-512", bytes);
  return `${kind}:${toHex(new Uint8Array(digest))}`;
}

/** Whether two values of JSON or YAML are equal, whatever the order of their members. */
function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b) || Object.keys(a).length !== Object.keys(b).length) return false;
  const other = new Map(Object.entries(b));
  return Object.entries(a).every(([name, value]) => other.has(name) && isSame(value, other.get(name)));
}

function mismatch(uri: string, what: string): NexusError {
  return new NexusError("PROTOCOL_VIOLATION", `${uri} differs from the server's list: the ${what} does not match`, {
    hint: "Do not use this file. List the skills again. If the problem persists, the server or a party in the network changes its files.",
    mayHaveReached: true,
  });
}

function parseOr<T>(run: () => T, otherwise: T): T {
  try {
    return run();
  } catch {
    return otherwise;
  }
}
