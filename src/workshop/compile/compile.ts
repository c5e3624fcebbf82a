import { sha256 } from "../../text/digest.ts";
import type { Tool } from "../../protocol/mcp.ts";
import type { ToolFile } from "../file/model/tool-file.ts";
import { hashOf } from "./approved-form.ts";
import { citationsOf, type Citation, type KnownCitations, type Outside } from "./citations.ts";
import { bytesOf } from "./json-schema.ts";
import { type CutParts, DEFINITION_BYTES, fittedDefinition } from "./tool-definition.ts";

/**
 * What an approval covers. 1: without the fake, whose texts reach models too, and the evidence of types. It is still
 * compiled, so that approvals of it count as long as the file is unchanged.
 */
type CompiledFormat = 1 | 2;

/** The complete definition of a served API. Plain JSON in a stable order; an approval covers its hash. */
export interface CompiledApi {
  format: CompiledFormat;
  /** Without the checks and the questions; in format 1 also without the fake and the evidence of types. */
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

interface CompileOptions {
  /** From before. */
  known?: KnownCitations | undefined;
  /** Default: the newest one. */
  format?: CompiledFormat;
}

/**
 * The same as `compileApi`, but types that contain each other so deeply that the stack ends are a problem of the file: they
 * are followed by recursion.
 */
export function tryCompileApi(
  ...given: Parameters<typeof compileApi>
): { api: CompiledApi; problems: CompileProblem[] } | { api: undefined; problems: CompileProblem[] } {
  try {
    return compileApi(...given);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { api: undefined, problems: [TOO_NESTED] };
  }
}

/** In the newest format, unless the hash of what was approved is that of the first one. */
export function tryCompileApproved(
  file: ToolFile,
  documents: Readonly<Record<string, string>>,
  { hash, known }: { hash: string; known?: KnownCitations | undefined },
): ReturnType<typeof tryCompileApi> {
  const newest = tryCompileApi(file, documents, { known });
  if (newest.api?.hash === hash) return newest;
  const first = tryCompileApi(file, documents, { known, format: 1 });
  return first.api?.hash === hash ? first : newest;
}

export const TOO_NESTED: CompileProblem = {
  path: "types",
  message: "the types contain each other so deeply that they cannot be used",
  hint: "Leave out types, or fields that lead to the deepest ones.",
  severity: "error",
};

/** `documents`: the texts of the file's documents by name; undefined if a file is missing. */
export function compileApi(
  file: ToolFile,
  documents: Readonly<Record<string, string>>,
  { known, format = 2 }: CompileOptions = {},
): { api: CompiledApi; problems: CompileProblem[] } {
  const served = format === 1 ? inFormat1(withoutTrials(file)) : withoutTrials(file);
  const listed = Object.entries(served.tools).filter(([, { offer }]) => offer === undefined);
  const fitted = listed.map(([name, spec]) => ({ name, ...fittedDefinition(served, name, spec) }));
  const tools = Object.fromEntries(fitted.map(({ name, tool }) => [name, tool]));
  const { citations, outside } = citationsOf(served, documents, known);
  const compiled = { format, file: served, tools, citations };
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
 * Without checks and questions. The order of fields is kept, because it is that of the elements on the wire; that of tools
 * and types is not.
 */
function withoutTrials(file: ToolFile): ToolFile {
  const tools = byName(file.tools).map(([name, spec]) => [name, { ...spec, checks: [] }]);
  const { questions: _, ...approved } = file;
  return {
    ...approved,
    types: Object.fromEntries(byName(file.types)),
    tools: Object.fromEntries(tools),
    fake: { ...file.fake, tools: Object.fromEntries(byName(file.fake.tools)) },
  };
}

/** What format 1 covers. */
function inFormat1(file: ToolFile): ToolFile {
  const types = Object.entries(file.types).map(([name, type]) => {
    const { evidence: _, ...rest } = type;
    return [name, rest];
  });
  return { ...file, types: Object.fromEntries(types), fake: { secrets: {}, tables: {}, tools: {} } };
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
