import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { writeAtomic } from "../../files/atomic-write.ts";
import { realPath } from "../../files/paths.ts";
import { withLock } from "../../files/file-lock.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { changed, type SourceChange } from "../../source/source-change.ts";
import { planEdit, type ServerEdit } from "./edit-plan.ts";
import { encodedLike, formatOf, loadText, MAX_CLIENT_BYTES, parseSource, type Format } from "../read/read-source.ts";
import { plainValue, type SourceNode } from "../../source/source-node.ts";
import { isRecord } from "../../json/is-record.ts";

export type { ServerEdit } from "./edit-plan.ts";

/** The text of a file before and after an edit. */
interface EditedFile {
  /** Undefined if there was no file. */
  before: string | undefined;
  after: string;
}

/** Edits a configuration file in place, all edits or none; comments, order and permissions are kept. */
export async function editFile(file: string, ...edits: readonly ServerEdit[]): Promise<EditedFile> {
  return editFileThen(file, edits, (edited) => Promise.resolve(edited));
}

/** Returns the new text of a file; throws if the edit is not possible. */
export type TextEdit = (text: string) => Promise<string>;

/** Like `editFile`; the lock is held until `then` has ended. */
export async function editFileThen<T>(
  file: string,
  edits: readonly ServerEdit[] | TextEdit,
  then: (edited: EditedFile) => Promise<T>,
): Promise<T> {
  const edit = typeof edits === "function" ? edits : (text: string) => editedText(text, file, edits);
  // A symbolic link stays a link, even if its target does not exist yet.
  const target = realPath(file);
  // Checked first, so that no folder is created for an edit that is refused.
  if (!existsSync(target)) await edit("");
  return withLock(target, async ({ check }) => {
    // Text that cannot be decoded would be changed by writing it.
    const before = await loadText(file, { isStrict: true, maxBytes: MAX_CLIENT_BYTES });
    const after = await edit(before ?? "");
    if (after !== before) await writeAtomic(target, encodedLike(target, after), await modeOf(target), check);
    return then({ before, after });
  });
}

async function editedText(text: string, file: string, edits: readonly ServerEdit[]): Promise<string> {
  let edited = text;
  for (const edit of edits) edited = await editText(edited, file, edit);
  return edited;
}

/** The text of a file after an edit, which changed only what it should. */
export async function editText(text: string, file: string, edit: ServerEdit): Promise<string> {
  const format = formatOf(file);
  // Codex uses other keys than Nexus.
  if (format === "toml" && edit.kind === "add") {
    throw refused(file, "Nexus cannot add servers to this TOML file", byHand(edit, format));
  }
  const edited = await changeText(text, file, (root) => planEdit(edit, root, file));
  if (edited !== undefined) return edited;
  const refers = format === "yaml" && /(?:^|[\s[{,])(?:[&*][^\s,\]}]|<<\s*:)/m.test(text);
  const parts = refers ? "It uses YAML anchors or aliases (&, *, <<). " : "";
  throw refused(file, "Nexus cannot edit the file without changing other parts of it", parts + byHand(edit, format));
}

/**
 * The text of a file after changes; there may be several ways, the best first. The result is compared with the intended
 * content; undefined if no way leads to it.
 */
export async function changeText(
  text: string,
  file: string,
  plan: (root: SourceNode) => SourceChange[][],
): Promise<string | undefined> {
  const format = formatOf(file);
  const root = await parseSource(text, file);
  const before = plainValue(root);
  const editors = await editorsOf(format);
  for (const way of plan(root)) {
    if (way.length === 0) return text;
    const after = way.reduce(changed, before);
    // In TOML, an empty table without a line of its own does not exist.
    const meant = format === "toml" ? [after, withoutEmptied(after, way)] : [after];
    for (const apply of editors) {
      const edited = attempt(() => apply(text, way));
      if (edited !== undefined && (await says(edited, file, meant))) return edited;
    }
  }
  return undefined;
}

function withoutEmptied(content: unknown, way: readonly SourceChange[]): unknown {
  return way.reduce((left, { path, value }) => {
    const above = path.slice(0, -1);
    const table = above.reduce<unknown>((at, key) => (isRecord(at) ? at[String(key)] : undefined), left);
    const isEmptied = value === undefined && isRecord(table) && Object.keys(table).length === 0;
    return isEmptied ? changed(left, { path: above, value: undefined }) : left;
  }, content);
}

type Editor = (text: string, changes: readonly SourceChange[]) => string;

/** The editor that changes least comes first. */
async function editorsOf(format: Format): Promise<Editor[]> {
  if (format === "toml") return [(await import("../../source/toml-edit.ts")).editToml];
  if (format === "json") return [(await import("../../source/json-edit.ts")).editJson];
  return [
    (await import("../../source/yaml-splice.ts")).spliceYaml,
    (await import("../../source/yaml-edit.ts")).editYaml,
  ];
}

/** Libraries throw their own errors for changes that they do not support. */
function attempt(apply: () => string): string | undefined {
  try {
    return apply();
  } catch {
    return undefined;
  }
}

async function says(text: string, file: string, contents: readonly unknown[]): Promise<boolean> {
  try {
    const said = plainValue(await parseSource(text, file));
    return contents.some((content) => isDeepStrictEqual(said, content));
  } catch {
    return false;
  }
}

async function modeOf(file: string): Promise<number> {
  return stat(file).then(
    (facts) => facts.mode & 0o777,
    () => 0o600,
  );
}

function refused(file: string, message: string, hint: string): NexusError {
  return new NexusError("CONFIG_INVALID", message, { phase: "config", source: { file }, hint, mayHaveReached: false });
}

/** The instruction for a file that cannot be edited automatically. */
function byHand(edit: ServerEdit, format: Format): string {
  if (edit.kind === "add") {
    const others = "Add the server to another file, or edit this file in an editor.";
    return format === "toml" ? `For Codex, use "nexus mcp install codex". ${others}` : others;
  }
  const part = format === "toml" ? "table" : "entry";
  if (edit.kind === "remove") return `Delete the ${part} of "${edit.id}" in an editor.`;
  const isOn = edit.kind === "enable";
  const setting = { json: `"enabled": ${isOn}`, yaml: `enabled: ${isOn}`, toml: `"enabled = ${isOn}"` }[format];
  return `Add ${setting} to the ${part} of "${edit.id}" in an editor.`;
}
