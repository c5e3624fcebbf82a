import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { fullInputSchema, fullOutputSchema } from "../../../src/workshop/compile/json-schema.ts";
import { loadDocument } from "../../../src/workshop/documents/load/load-document.ts";
import { draftToolFile } from "../../../src/workshop/draft/draft-tool-file.ts";
import { factsOf } from "../../../src/workshop/draft/read-document.ts";
import { apiIdFrom } from "../../../src/workshop/draft/import-documents.ts";
import type { ToolFile, ToolSpec } from "../../../src/workshop/file/model/tool-file.ts";
import { sentBy } from "./sent-by.ts";

/** What the import of one document gave, for the table of `npm run corpus`. */
export interface CorpusImport {
  tools: { name: string; operation: string; sent: string[] }[];
  omitted: { operation: string; reason: string; detail?: string }[];
  /** Errors in the file that was made. */
  errors: string[];
  /** Schemas that Ajv does not accept. */
  badSchemas: string[];
  schemas: number;
  /** Of processor time, which other programs on the machine do not change. */
  seconds: number;
  megabytes: number;
  kilobytes: number;
}

/** Imports a document as `nexus api import` does, and checks the schemas of all its tools. */
export async function importOne(path: string, { compile }: { compile: boolean }): Promise<CorpusImport> {
  const start = process.cpuUsage();
  const document = { ...(await loadDocument(path)), name: "openapi" };
  const facts = await factsOf(document);
  const draft = draftToolFile(facts, {
    api: apiIdFrom(facts.title, basename(path)),
    documents: { openapi: { file: basename(path), sha256: document.sha256 } },
  });
  const { user, system } = process.cpuUsage(start);
  const seconds = (user + system) / 1_000_000;
  const megabytes = peakMegabytes();
  const { file } = draft;
  return {
    tools: draft.tools.map(({ name, operation }) => {
      const spec = file?.tools[name];
      return { name, operation, sent: file && spec ? sentBy(file, spec, operation) : [] };
    }),
    omitted: draft.omitted.map(({ key, reason, detail }) => ({
      operation: key,
      reason,
      ...(detail ? { detail } : {}),
    })),
    errors: draft.problems
      .filter(({ severity }) => severity === "error")
      .map(({ path: at, message }) => `${at}: ${message}`),
    ...(file ? checkSchemas(file, compile) : { badSchemas: ["the file cannot be read"], schemas: 0 }),
    seconds,
    megabytes,
    kilobytes: draft.text.length / 1_024,
  };
}

/** On Linux without what the parent process had when it started this one, which the usual number contains. */
function peakMegabytes(): number {
  const status = existsSync("/proc/self/status") ? readFileSync("/proc/self/status", "utf8") : "";
  return Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? process.resourceUsage().maxRSS) / 1_024;
}

/** `compile`: also with the references followed by Ajv, which takes long; otherwise they are looked up here. */
function checkSchemas(file: ToolFile, compile: boolean): { badSchemas: string[]; schemas: number } {
  const badSchemas: string[] = [];
  const known = new Set<string>();
  const checker = new Ajv2020({ strict: false, validateFormats: false, logger: false });
  let schemas = 0;
  for (const [name, spec] of Object.entries(file.tools)) {
    for (const [side, schema] of Object.entries(schemasOf(file, spec))) {
      schemas++;
      const text = JSON.stringify(schema);
      if (known.has(text)) continue;
      known.add(text);
      const problem = problemOf(schema, compile ? undefined : checker);
      if (problem !== undefined) badSchemas.push(`${name} ${side}: ${problem}`);
    }
  }
  return { badSchemas, schemas };
}

function schemasOf(file: ToolFile, spec: ToolSpec): Record<string, Record<string, unknown>> {
  const output = spec.response.type === undefined ? {} : { output: fullOutputSchema(file, spec) };
  return { input: fullInputSchema(file, spec), ...output };
}

function problemOf(schema: Record<string, unknown>, checker: Ajv2020 | undefined): string | undefined {
  try {
    if (!checker) new Ajv2020({ strict: false, validateFormats: false, logger: false }).compile(schema);
    else if (checker.validateSchema(schema) !== true) return checker.errorsText().slice(0, 200);
    return unresolved(schema, schema);
  } catch (error) {
    return error instanceof Error ? error.message.slice(0, 200) : "unknown error";
  }
}

/** The first reference that leads nowhere in the schema itself. */
function unresolved(value: unknown, root: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, member] of Object.entries(value)) {
    if (name === "$ref" && typeof member === "string" && at(root, member) === undefined)
      return `${member} leads nowhere`;
    const inner = unresolved(member, root);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

function at(root: unknown, ref: string): unknown {
  let value = root;
  for (const step of decodeURIComponent(ref).split("/").slice(1)) {
    value = (value as Record<string, unknown> | undefined)?.[step.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return value;
}
