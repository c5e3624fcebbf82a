import { messageOf } from "../../../errors/nexus-error.ts";
import { compileApi } from "../../compile/compile.ts";
import { editToolFile } from "../../file/edit-tool-file.ts";
import { readToolFile } from "../../file/read-tool-file.ts";
import type { ToolFile } from "../../file/model/tool-file.ts";
import type { ApiChange } from "../../review/api-change.ts";
import { differences } from "../../review/differences.ts";
import { chunksOf, mentionedTypes, type FileChunk } from "./file-chunks.ts";
import type { Proposal } from "./merge-draft.ts";

/** What would change for callers if a proposal were taken over. */
export interface Consequence {
  proposal: Proposal;
  /** By kind, the most important first; empty if it is not visible to anybody. */
  changes: ApiChange[];
  /** Why it cannot be taken over alone. */
  problem?: string;
}

/** For a type that many tools use, these many show what happens. */
const MOST_TOOLS = 3;

/** The consequence of each proposal for a merged file, computed from the parts of the file that it is about. */
export function consequencesOf(text: string, proposals: readonly Proposal[]): Consequence[] {
  if (proposals.length === 0) return [];
  const chunks = chunksOf(text);
  return proposals.map((proposal) => {
    try {
      const before = sliceAround(chunks, proposal);
      const path = [...proposal.path];
      const { theirs } = proposal;
      const after = editToolFile(before, [theirs === undefined ? { path, remove: true } : { path, value: theirs }]);
      return { proposal, changes: differences(compiled(before), compiled(after)) };
    } catch (error) {
      return { proposal, changes: [], problem: messageOf(error) };
    }
  });
}

function compiled(text: string) {
  const { file, problems } = readToolFile(text, "the file");
  const first = problems.find(({ severity }) => severity === "error");
  if (!file) throw new TypeError(first ? `${first.path}: ${first.message}` : "it has mistakes");
  return compileApi(withoutEvidence(file), {}).api;
}

/** Documents are not compared here. */
function withoutEvidence(file: ToolFile): ToolFile {
  return { ...file, documents: {} };
}

/** A file with only the tools that the proposal is about, and the types that they name. */
function sliceAround(chunks: readonly FileChunk[], { path }: Proposal): string {
  const [section, name = ""] = path;
  const entries = (of: string) => chunks.filter(({ path: [where, entry] }) => where === of && entry);
  const types = new Map(entries("types").map((chunk) => [chunk.path[1] ?? "", chunk]));
  const tools = entries("tools").filter(({ path: [, tool = ""], text }) => {
    if (section === "tools") return tool === name;
    return section !== "types" || mentionedTypes([text], types).has(name);
  });
  const chosen = tools.slice(0, MOST_TOOLS);
  const needed = mentionedTypes(
    [...chosen.map(({ text }) => text), ...(section === "types" ? [types.get(name)?.text ?? ""] : [])],
    types,
  );
  const isKept = ({ path: [where, entry] }: FileChunk) => {
    if (where === "fake" || where === "questions") return false;
    if (where === "tools" && entry) return chosen.some(({ path: [, tool] }) => tool === entry);
    return where !== "types" || !entry || needed.has(entry);
  };
  return chunks
    .filter(isKept)
    .map(({ text }) => text)
    .join("");
}
