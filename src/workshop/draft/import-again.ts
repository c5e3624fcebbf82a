import { sha256 } from "../../text/digest.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { ApiFacts } from "../documents/api-facts.ts";
import { parseDocument, type LoadedDocument } from "../documents/parse-document.ts";
import { editToolFile } from "../file/edit-tool-file.ts";
import { readToolFile } from "../file/read-tool-file.ts";
import type { DocumentSpec, ToolFile } from "../file/model/tool-file.ts";
import { baseAddress } from "./base-address.ts";
import { draftToolFile, type Draft, type DraftOptions } from "./draft-tool-file.ts";
import { factsOf } from "./read-document.ts";
import { joinFacts } from "./import-documents.ts";
import { consequencesOf, type Consequence } from "./merge/consequences.ts";
import { mergeDraft, type MergedDraft } from "./merge/merge-draft.ts";
import { QuestionList } from "./questions.ts";
import { choiceIn } from "./select/choice.ts";

/** A tool file that was imported before, with the documents beside it that are API descriptions. */
export interface Imported {
  text: string;
  file: ToolFile;
  documents: LoadedDocument[];
  /** Names of documents that are missing, or are not the ones that the file was made from. */
  lost: string[];
}

/** What an import changes in a tool file that exists. */
export interface Reimport extends MergedDraft {
  /** The new draft; its text is not what is written. */
  draft: Draft;
  consequences: Consequence[];
  /** Names of old documents that are lost: what a person edited cannot be told then. */
  lost: string[];
}

/** A document as the tool file names it. */
export type StoredDocument = Pick<DocumentSpec, "file" | "sha256">;

/** Reads a file to import into. `stored` finds the text of a document beside it. */
export function readImported(
  text: string,
  path: string,
  stored: (document: StoredDocument) => string | undefined,
): Imported {
  const { file, problems } = readToolFile(text, path);
  const first = problems.find(({ severity }) => severity === "error");
  if (!file || first) {
    throw new NexusError("CONFIG_INVALID", `The tool file ${path} has mistakes: ${first?.message ?? ""}`, {
      phase: "config",
      source: { file: path, line: first?.line },
      hint: `Correct them first; "nexus api check" shows all of them. To start again instead, move the file away.`,
      mayHaveReached: false,
    });
  }
  const documents: LoadedDocument[] = [];
  const lost: string[] = [];
  for (const [name, spec] of Object.entries(file.documents)) {
    const found = stored(spec)?.replaceAll("\r\n", "\n");
    if (found === undefined || sha256(found) !== spec.sha256) {
      lost.push(name);
      continue;
    }
    const document = described(found, name, spec.file);
    if (document) documents.push({ ...document, ...(spec.source === undefined ? {} : { source: spec.source }) });
  }
  return { text, file, documents, lost };
}

/** Undefined for a document of another kind, such as a manual that a person added. */
function described(text: string, name: string, file: string): LoadedDocument | undefined {
  try {
    return parseDocument(text, name, file);
  } catch (error) {
    if (error instanceof NexusError) return undefined;
    throw error;
  }
}

/** Brings an imported file up to date: edits stay, what only the description changed is taken over. */
export async function importAgain(imported: Imported, facts: ApiFacts, options: DraftOptions): Promise<Reimport> {
  const { text: mine, file, lost } = imported;
  const old = lost.length > 0 ? undefined : joinFacts(await Promise.all(imported.documents.map(factsOf)));
  const [{ source: documentUrl } = {}] = imported.documents;
  const { base: current } = file.upstream;
  // An address that the old document does not say was given by a person, who still wants it.
  const isOwn = old === undefined || baseAddress(old.servers, { documentUrl }, new QuestionList()) !== current;
  const own = isOwn ? addressIn(file, facts) : undefined;
  const choice = options.select?.length || options.rest ? options : choiceIn(mine);
  const draft = draftToolFile(facts, { ...options, ...choice, base: options.base ?? own });
  const base = old
    ? draftToolFile(old, {
        api: options.api,
        documents: Object.fromEntries(
          imported.documents.flatMap(({ name }) => {
            const spec = file.documents[name];
            return spec ? [[name, spec] as const] : [];
          }),
        ),
        ...choiceIn(mine),
        base: own,
        documentUrl,
      }).text
    : "";
  const merged = mergeDraft({ base, mine, theirs: draft.text });
  const text = withDocuments(merged.text, options.documents);
  const proposals = merged.proposals.filter(({ path: [section] }) => section !== "documents");
  return { ...merged, text, proposals, draft, lost, consequences: consequencesOf(text, proposals) };
}

/** The address that a person would give: with the path, if all requests have the same. */
function addressIn({ upstream, tools }: ToolFile, { operations }: ApiFacts): string {
  if (!operations.some(({ graphql }) => graphql)) return upstream.base;
  const [path = ""] = Object.values(tools).flatMap(({ request }) => request?.path ?? []);
  return upstream.base + path;
}

/** Evidence refers to the new documents, whatever was edited. */
function withDocuments(text: string, documents: DraftOptions["documents"]): string {
  const { file } = readToolFile(text, "the file");
  const changes = Object.entries(documents).flatMap(([name, spec]) =>
    (["file", "sha256"] as const).flatMap((key) =>
      !file || file.documents[name]?.[key] === spec[key] ? [] : [{ path: ["documents", name, key], value: spec[key] }],
    ),
  );
  return changes.length === 0 ? text : editToolFile(text, changes);
}
