import { sha256 } from "../../text/digest.ts";
import type { Tool } from "../../protocol/mcp.ts";
import type { ToolFile } from "../file/model/tool-file.ts";
import { hashOf } from "./api-hash.ts";
import { citationsOf, type Citation, type KnownCitations, type Outside } from "./citations.ts";
import { bytesOf } from "./json-schema.ts";
import { type CutParts, DEFINITION_BYTES, fittedDefinition } from "./tool-definition.ts";

/** The complete definition of a served API. Plain JSON in a stable order; an approval covers its hash. */
export interface CompiledApi {
  format: 1;
  /** Without the fake and the checks. */
  file: ToolFile;
  /** The listed tools as clients see them, by name; `toolDefinition` makes those that are found by searching. */
  tools: Record<string, Tool>;
  citations: Record<string, Citation>;
  hash: string;
}

/** A problem that is found during compilation. */
export interface CompileProblem {
  /** Where in the file: members joined with dots. */
  path: string;
  message: string;
  hint?: string;
  severity: "error" | "warning";
}

/** Maximum size of all definitions. */
const LIST_BYTES = 96 * 1024;

/** `documents`: the texts of the file's documents by name; undefined if a file is missing. `known`: from before. */
export function compileApi(
  file: ToolFile,
  documents: Readonly<Record<string, string>>,
  known?: KnownCitations,
): { api: CompiledApi; problems: CompileProblem[] } {
  const served = withoutTrials(file);
  const listed = Object.entries(served.tools).filter(([, { offer }]) => offer === undefined);
  const fitted = listed.map(([name, spec]) => ({ name, ...fittedDefinition(served, name, spec) }));
  const tools = Object.fromEntries(fitted.map(({ name, tool }) => [name, tool]));
  const { citations, outside } = citationsOf(served, documents, known);
  const compiled = { format: 1, file: served, tools, citations } as const;
  return {
    api: { ...compiled, hash: hashOf(compiled) },
    problems: [
      ...changedDocuments(file, documents),
      ...citedOutside(outside),
      ...overBudget(tools),
      ...fitted.flatMap(cutParts),
    ],
  };
}

/**
 * Without fake and checks. The order of fields is kept, because it is that of the elements on the wire; that of tools
 * and types is not.
 */
function withoutTrials(file: ToolFile): ToolFile {
  const tools = byName(file.tools).map(([name, spec]) => [name, { ...spec, checks: [] }]);
  const { questions: _, ...approved } = file;
  return {
    ...approved,
    types: Object.fromEntries(byName(file.types)),
    tools: Object.fromEntries(tools),
    fake: { secrets: {}, tables: {}, tools: {} },
  };
}

function byName<T>(record: Readonly<Record<string, T>>): [string, T][] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}

function changedDocuments(file: ToolFile, documents: Readonly<Record<string, string>>): CompileProblem[] {
  return Object.entries(file.documents).flatMap(([name, spec]): CompileProblem[] => {
    const text = documents[name];
    const path = `documents.${name}`;
    if (text === undefined) {
      return [{ path, message: `there is no file "${spec.file}" beside the tool file`, severity: "error" }];
    }
    const is = sha256(text);
    if (is === spec.sha256) return [];
    const message = `"${spec.file}" is not the text that this file was written from`;
    const hint = `Check what leans on the changed lines, then write sha256: ${is}`;
    return [{ path: `${path}.sha256`, message, hint, severity: "error" }];
  });
}

function citedOutside(outside: readonly Outside[]): CompileProblem[] {
  return outside.map(({ evidence, path, problem }) => ({
    path,
    message: `the evidence ${evidence} is not in its document: ${problem}`,
    hint: "Cite lines or a part that exist, or correct the document.",
    severity: "error",
  }));
}

function overBudget(tools: Readonly<Record<string, Tool>>): CompileProblem[] {
  const sizes = Object.entries(tools).map(([name, tool]) => ({ name, bytes: bytesOf(tool) }));
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  const large = sizes.filter(({ bytes }) => bytes > DEFINITION_BYTES);
  return [
    ...large.map(({ name, bytes }): CompileProblem => ({
      path: `tools.${name}`,
      message: `the definition has ${bytes} bytes, ${DEFINITION_BYTES} are allowed`,
      hint: "Shorten descriptions, or make two tools of it: every model reads all of it before it calls anything.",
      severity: "error",
    })),
    ...(total > LIST_BYTES
      ? [
          {
            path: "tools",
            message: `the list of tools has ${total} bytes, ${LIST_BYTES} are allowed`,
            hint: "Write offer: search at tools that are seldom used, make two APIs of it, or leave tools out.",
            severity: "error",
          } as const,
        ]
      : []),
  ];
}

const MOST_NAMES = 5;

/** What callers do not see in the list; arguments are checked against the full schema all the same. */
function cutParts({ name, cut }: { name: string; cut: CutParts }): CompileProblem[] {
  return (["input", "output"] as const).flatMap((side): CompileProblem[] => {
    const parts = [...new Set(cut[side])];
    if (parts.length === 0) return [];
    const shown = parts.slice(0, MOST_NAMES).join(", ");
    const more = parts.length > MOST_NAMES ? ` and ${parts.length - MOST_NAMES} more` : "";
    const what = parts.includes("") ? "the whole result is" : `${shown}${more} ${parts.length === 1 ? "is" : "are"}`;
    return [
      {
        path: `tools.${name}.${side === "input" ? "input" : "response"}`,
        message: `${what} shown as any object, because the definition would have more than ${DEFINITION_BYTES} bytes`,
        hint: "Arguments are still checked. To show more, shorten descriptions or leave fields out.",
        severity: "warning",
      },
    ];
  });
}
