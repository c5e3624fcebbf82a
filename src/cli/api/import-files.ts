import { existsSync, lstatSync, realpathSync, statSync } from "node:fs";
import { rename } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { writeAtomic } from "../../files/atomic-write.ts";
import { makeFolder } from "../../files/make-folder.ts";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import { findRegularText } from "../../files/regular-file.ts";
import { sha256 } from "../../text/digest.ts";
import type { LoadedDocument } from "../../workshop/documents/parse-document.ts";
import type { DraftOptions } from "../../workshop/draft/draft-tool-file.ts";
import type { Imported, StoredDocument } from "../../workshop/draft/import-again.ts";
import { wrongUsage } from "../command/command-line.ts";

const MAX_BYTES = 32 * 1024 * 1024;

/** A file beside the tool file that keeps a document. */
interface DocumentFile {
  /** Relative to the tool file. */
  name: string;
  text: string;
  /** Whether it is there already with the same text. */
  isThere: boolean;
  /** Whether a person keeps it there and may replace it, so that the next import needs a copy. */
  isOwn: boolean;
}

/** The end of the name of a document that replaces another one when the tool file is written. */
const WAITING = ".new";

/** The end of the name of a copy of a document that a person may replace in place before the next import. */
const BASE = ".base";

/**
 * The text of the document that the tool file was made of: in its place, as an import left it that could not put it there
 * any more, or as a copy. If there is none of them, what is in its place.
 */
export function findStored(folder: string, { file: name, sha256: hash }: StoredDocument): string | undefined {
  const found = ["", WAITING, BASE].map((ending) => () => findRegularText(join(folder, name + ending), MAX_BYTES));
  for (const find of found) {
    const text = find();
    if (text !== undefined && sha256(text.replaceAll("\r\n", "\n")) === hash) return text;
  }
  return findRegularText(join(folder, name), MAX_BYTES);
}

/** Names for the documents: those of the file that they replace, otherwise names of their own. */
export function withNames(documents: readonly LoadedDocument[], imported?: Imported): LoadedDocument[] {
  const [only, ...others] = documents;
  const known = imported ? [...imported.documents.map(({ name }) => name), ...imported.lost] : [];
  if (only && others.length === 0) {
    // A single document is called by its format, because its evidence is everywhere in the file.
    const name = usualName(only.format);
    if (known.length < 2) return [{ ...only, name: known[0] ?? name }];
  }
  const taken = new Set<string>();
  const named = documents.map((document) => {
    let { name } = document;
    for (let more = 2; taken.has(name); more++) name = `${document.name}-${more}`;
    taken.add(name);
    return { ...document, name };
  });
  // Documents of the file that were not given again stay as they are, in their order.
  const byName = new Map(named.map((document) => [document.name, document]));
  const stay = (imported?.documents ?? []).map((document) => byName.get(document.name) ?? document);
  return [...stay, ...named.filter(({ name }) => !stay.some((other) => other.name === name))];
}

/** The file for a document: the one that it replaces, the original if it is there already, or a new one. */
export function fileFor(
  { name, text, format, source = "" }: LoadedDocument,
  { folder, api, imported }: { folder: string; api: string; imported?: Imported | undefined },
): DocumentFile {
  const old = imported?.file.documents[name]?.file;
  const fileAt = (place: string, isThere: boolean): DocumentFile => {
    return { name: place, text, isThere, isOwn: isThere && isSameFile(source, join(folder, place)) };
  };
  const isThere = old !== undefined && hasText(join(folder, old), text);
  // A person's own file stays as it is, also where the copy differs because it has no credentials.
  if (old !== undefined && (isThere || !isSameFile(source, join(folder, old)))) return fileAt(old, isThere);
  const own = basename(source);
  const ending = endingOf(format, text);
  const isUsual =
    /^[\w-]+(?:\.[\w-]+)*\.\w+$/.test(own) &&
    own
      .toLowerCase()
      .replace(/\.yml$/, ".yaml")
      .endsWith(ending) &&
    !own.endsWith(".nexus.yaml");
  const usual = isUsual ? own : `${name}${ending}`;
  for (const candidate of [usual, `${api}.${name}${ending}`]) {
    const path = join(folder, candidate);
    if (!existsSync(path)) return fileAt(candidate, false);
    if (hasText(path, text)) return fileAt(candidate, true);
  }
  throw new NexusError("CONFIG_INVALID", `${join(folder, usual)} exists and is another document`, {
    phase: "config",
    hint: "Move it away, or use --out with another folder.",
    mayHaveReached: false,
  });
}

/** What a single document is called in evidence. */
function usualName(format: LoadedDocument["format"]): string {
  if (format.startsWith("openapi")) return "openapi";
  const isManual = ["markdown", "html", "text", "pdf"].includes(format);
  return isManual ? "manual" : format.replace(/-.*$/, "");
}

const ENDINGS: Partial<Record<LoadedDocument["format"], string>> = {
  graphql: ".graphql",
  "wsdl-1.1": ".wsdl",
  curl: ".sh",
  har: ".har",
  markdown: ".md",
  html: ".html",
  text: ".txt",
  pdf: ".pdf.txt",
};

function endingOf(format: LoadedDocument["format"], text: string): string {
  return ENDINGS[format] ?? (/^\s*[[{]/.test(text) ? ".json" : ".yaml");
}

function hasText(path: string, text: string): boolean {
  return findRegularText(path, MAX_BYTES)?.replaceAll("\r\n", "\n") === text;
}

function isSameFile(source: string, path: string): boolean {
  if (/^https?:/i.test(source)) return false;
  try {
    return realpathSync(resolve(source)) === realpathSync(path);
  } catch {
    return false;
  }
}

/** What the tool file says about its documents. */
export function documentSpecs(
  documents: readonly LoadedDocument[],
  files: readonly DocumentFile[],
): DraftOptions["documents"] {
  return Object.fromEntries(
    documents.map((document, index) => {
      const source = addressOf(document);
      const spec = {
        file: files[index]?.name ?? "",
        sha256: document.sha256,
        ...(source === undefined ? {} : { source }),
      };
      return [document.name, spec];
    }),
  );
}

/** Where a document was loaded from, if that was an address. */
export function addressOf(document: LoadedDocument | undefined): string | undefined {
  const { source } = document ?? {};
  return source !== undefined && /^https?:/i.test(source) ? source : undefined;
}

/** Each file is written completely or not at all; between two of them, the tool file is never without its document. */
export async function writeImport({
  path,
  folder,
  text,
  files,
  isUpdate,
}: {
  path: string;
  folder: string;
  text: string;
  files: readonly DocumentFile[];
  isUpdate: boolean;
}): Promise<void> {
  await makeFolder(folder).catch((error: unknown) => {
    throw wrongUsage(`The folder ${folder} cannot be made: ${messageOf(error)}`, "Name another one with --out.");
  });
  const fresh = files.filter(({ isThere }) => !isThere);
  // An old document is needed to merge again, so it is replaced last; whoever comes after a crash finds the new one.
  for (const { name, text: document } of fresh) await writeAtomic(join(folder, name + WAITING), document, 0o644);
  if (isUpdate) await writeAtomic(path, text, 0o644);
  for (const { name } of fresh) await rename(join(folder, name + WAITING), join(folder, name));
  if (!isUpdate) await writeAtomic(path, text, 0o644);
  // Last: until then, the old copy is the one that the tool file was made of.
  await keepBases(folder, files);
}

/** Keeps copies of the documents that a person may replace: without the old text, edits cannot be told from changes. */
export async function keepBases(folder: string, files: readonly DocumentFile[]): Promise<void> {
  for (const { name, text, isOwn } of files) {
    const path = join(folder, name + BASE);
    if (isOwn && !hasText(path, text)) await writeAtomic(path, text, 0o644);
  }
}

/** Throws if a folder is not there and cannot be made, because something else is in its place or above it. */
export function requireFolder(folder: string, hint: string): void {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(at)) {
      if (statSync(at).isDirectory()) return;
      throw wrongUsage(`${at} is a file, not a folder`, hint);
    }
    if (isLink(at)) throw wrongUsage(`${at} is a link to something that does not exist`, hint);
    if (at === dirname(at)) return;
  }
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}
