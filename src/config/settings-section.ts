import { NexusError } from "../errors/nexus-error.ts";
import { nearestName } from "../text/nearest-name.ts";
import { findMember, type Member, type SourceNode } from "../source/source-node.ts";

/** A setting beside the servers, and the file that it is written in. */
export interface FileSetting extends Member {
  file: string;
}

/**
 * A part of the configuration beside the servers, such as "gateway". Each setting comes from the strongest file that has it;
 * only the user's own files and one that was named count, because others may come with a project.
 */
export class SettingsSection {
  readonly name: string;
  readonly #settings = new Map<string, FileSetting>();
  /** Told to whoever asks for a setting: the servers of the file are not concerned. */
  #problem: NexusError | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** What a file says, after those that are stronger. */
  add(root: SourceNode, file: string): void {
    const section = findMember(root, this.name);
    if (!section || isNothing(section.node)) return;
    if (section.node.kind !== "object") {
      this.#problem ??= this.invalid({ ...section, file }, "is not an object");
      return;
    }
    for (const member of section.node.members) {
      if (!this.#settings.has(member.key)) this.#settings.set(member.key, { ...member, file });
    }
  }

  /** Throws where the section itself is not valid. */
  find(key: string): FileSetting | undefined {
    if (this.#problem) throw this.#problem;
    const found = this.#settings.get(key);
    return found && !isNothing(found.node) ? found : undefined;
  }

  /** Throws where the section has a setting with another name. */
  checkKeys(known: readonly string[]): void {
    if (this.#problem) throw this.#problem;
    for (const setting of this.#settings.values()) {
      if (!known.includes(setting.key)) throw this.invalid(setting, "is unknown", meantKey(setting.key, known));
    }
  }

  /** The members of a setting that is an object. Unknown ones are refused: a limit that is misspelt would limit nothing. */
  membersOf(key: string, known: readonly string[]): FileSetting[] {
    const setting = this.find(key);
    if (!setting) return [];
    const { node, file } = setting;
    if (node.kind !== "object") throw this.invalid(setting, "is not an object");
    const members = node.members.map((member) => ({ ...member, key: `${key}.${member.key}`, file }));
    const unknown = members.find((member) => !known.includes(member.key.slice(key.length + 1)));
    if (!unknown) return members.filter((member) => !isNothing(member.node));
    throw this.invalid(unknown, "is unknown", meantKey(unknown.key.slice(key.length + 1), known));
  }

  invalid({ key, place, file }: FileSetting, problem: string, hint?: string): NexusError {
    const name = key === this.name ? key : `${this.name}.${key}`;
    return new NexusError("CONFIG_INVALID", `"${name}" ${problem}`, {
      phase: "config",
      source: { file, ...place },
      hint,
      mayHaveReached: false,
    });
  }
}

/** What to do about an unknown key. */
export function meantKey(given: string, known: readonly string[]): string {
  const meant = nearestName(given, known);
  return meant === undefined ? `Known: ${known.join(", ")}.` : `Did you mean "${meant}"?`;
}

function isNothing(node: SourceNode): boolean {
  return node.kind === "scalar" && node.value === null;
}
