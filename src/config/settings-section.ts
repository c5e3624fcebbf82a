import { NexusError } from "../errors/nexus-error.ts";
import { nearestName } from "../text/nearest-name.ts";
import type { Infer, MemberForms, RecordForm } from "../format/form.ts";
import { problemSentence } from "../format/problem.ts";
import { readTree } from "../format/read-form.ts";
import { findMember, type Member, type Place, type SourceNode } from "../source/source-node.ts";

/** A setting beside the servers, and the file that it is written in. */
interface FileSetting extends Member {
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

  /** One setting, as the form of the section declares it. Throws where it, or the section itself, is not valid. */
  read<M extends MemberForms, K extends keyof M & string>(
    form: RecordForm<M>,
    key: K,
  ): { value: NonNullable<Infer<M[K]>>; file: string; place: Place; node: SourceNode } | undefined {
    const setting = this.find(key);
    const member = form.spec.members[key];
    if (!setting || !member) return undefined;
    const { value, problems } = readTree(member, setting.node, { nullIsAbsent: true, isJson: true });
    const [wrong] = problems;
    // The reader makes values of the type of the form.
    if (!wrong) return { ...setting, value: value as NonNullable<Infer<M[K]>> };
    const inner = wrong.path === "" || wrong.path.startsWith("[") ? wrong.path : `.${wrong.path}`;
    const { line, column } = wrong;
    throw this.invalid({ ...setting, key: `${key}${inner}`, place: { line, column } }, wrong.message, wrong.hint);
  }

  /** Throws where the section has a setting that is not declared: a limit that is misspelt would limit nothing. */
  checkKeys(form: RecordForm<MemberForms>): void {
    if (this.#problem) throw this.#problem;
    const known = Object.keys(form.spec.members);
    for (const setting of this.#settings.values()) {
      if (known.includes(setting.key)) continue;
      const meant = nearestName(setting.key, known);
      throw this.invalid(
        setting,
        "is unknown",
        meant === undefined ? `Known: ${known.join(", ")}.` : `Did you mean "${meant}"?`,
      );
    }
  }

  invalid(
    { key, place, file }: Pick<FileSetting, "key" | "place" | "file">,
    problem: string,
    hint?: string,
  ): NexusError {
    const name = key === this.name ? key : `${this.name}.${key}`;
    return new NexusError("CONFIG_INVALID", problemSentence(name, problem), {
      phase: "config",
      source: { file, ...place },
      hint,
      mayHaveReached: false,
    });
  }
}

function isNothing(node: SourceNode): boolean {
  return node.kind === "scalar" && node.value === null;
}
