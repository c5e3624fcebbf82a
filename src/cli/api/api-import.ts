import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { NexusError } from "../../errors/nexus-error.ts";
import { isFolder } from "../../files/paths.ts";
import { findRegularText } from "../../files/regular-file.ts";
import { visible } from "../../text/visible.ts";
import { fittedInputSchema, toolDefinition } from "../../workshop/compile/tool-definition.ts";
import { loadDocument, type LoadDocumentOptions } from "../../workshop/documents/load/load-document.ts";
import type { LoadedDocument } from "../../workshop/documents/parse-document.ts";
import { surePlaceholderIn } from "../../workshop/file/model/address-placeholder.ts";
import { factsOf } from "../../workshop/draft/read-document.ts";
import { draftToolFile, type Draft, type DraftOptions } from "../../workshop/draft/draft-tool-file.ts";
import { importAgain, readImported, type Imported, type Reimport } from "../../workshop/draft/import-again.ts";
import { apiIdFrom, joinFacts } from "../../workshop/draft/import-documents.ts";
import { wrongUsage } from "../command/command-line.ts";
import { defineCommand, type CommandContext } from "../command/command.ts";
import { nearPath } from "../output/short-path.ts";
import type { Output } from "../output/output.ts";
import {
  addressOf,
  documentSpecs,
  fileFor,
  findStored,
  keepBases,
  requireFolder,
  withNames,
  writeImport,
} from "./import-files.ts";
import { joinFirst, shorten } from "../../text/shorten.ts";
import { quotePath } from "../../text/shell-words.ts";
import { OMISSION_REASONS, type OmissionReason, type OmittedOperation } from "../../workshop/documents/api-facts.ts";
import { groupedBy } from "../../text/grouped-by.ts";
import { pluralize } from "../output/amounts.ts";
import type { Consequence } from "../../workshop/draft/merge/consequences.ts";
import type { TakenChange } from "../../workshop/draft/merge/merge-draft.ts";
import { showChanges } from "./change-rows.ts";

const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** nexus api import openapi.yaml --select tag:pets */
export const apiImport = defineCommand({
  usage:
    "nexus api import <file|url>… [--name ID] [--out DIR] [--select WHAT]… [--rest search] [--base URL]\n    [--root DIR] [--allow-host HOST]… [--dry-run]",
  description: `
Makes a tool file of an API description, from files or addresses: OpenAPI 2.0 to 3.2, Postman collections 2.x, GraphQL
schemas, WSDL 1.1, curl commands, HAR recordings, and manuals for people in Markdown, HTML, plain text or PDF. No model is
used: the same description gives the same file. Every operation becomes a tool, or is listed with the reason why it did
not. The file is a draft: it is served only after it was approved. What the description does not say is in its
"questions". The description is copied beside the file, because the evidence in the file refers to it. If it is there
already, its copy ends in .base, so that the next import can tell edits from changes after you replaced it.
--select takes tag:pets, path:/pets/**, op:listPets, read, write, destructive or a pattern for names such as list_*, and is
repeatable; -… excludes. Of more than 40 tools, the most central ones are listed and the others are found by searching.
If the tool file exists, it is brought up to date: what a person edited stays, what only the description changed is taken
over, and what both changed is proposed with its consequence. The selection of the last import counts unless a new one is given.
Files that an OpenAPI description refers to are read as well, in its own folder or in the one that --root names; for an address,
at its own host. Addresses inside of a private network are refused, unless --allow-host names their host.`,
  words: { min: 1, max: 20 },
  options: {
    name: { type: "string", value: "ID", help: "id of the API and of its server; default: made of the title" },
    out: { type: "string", value: "DIR", help: "folder of the tool file; default: the current one" },
    select: { type: "string", multiple: true, value: "WHAT", help: "only these operations; repeatable" },
    rest: { type: "string", value: "search", help: "keep what is not selected, but only for searching" },
    base: { type: "string", value: "URL", help: "base address of the API; default: the first https server" },
    root: { type: "string", value: "DIR", help: "a folder around the description, whose files it may refer to" },
    "allow-host": {
      type: "string",
      multiple: true,
      value: "HOST",
      help: "a host that may be reached although its address is private; repeatable",
    },
    "dry-run": { type: "boolean", help: "show what would be made, and write nothing" },
  },
  examples: [
    ["nexus api import openapi.yaml", "make a draft in the current folder"],
    [
      "nexus api import https://api.example/openapi.json --name shop --out api/shop",
      "from an address, as api/shop/shop.nexus.yaml",
    ],
    ["nexus api import openapi.yaml --select tag:pets --select -destructive", "only pets, without what deletes"],
    ["nexus api import openapi.yaml --dry-run --json", `{"file","tools":[…],"skipped":[…],"questions":[…]}`],
  ],

  async run(context) {
    const { words, options, flags, out, signal, endingAtOnce } = context;
    const folder = resolve(options.out ?? ".");
    requireFolder(folder, "Name the folder of the tool file: --out api/shop. It is made if it does not exist.");
    if (options.root !== undefined && !isFolder(options.root)) {
      throw wrongUsage(`--root ${options.root} is not a folder`, "Name a folder around the description.");
    }
    const progress = new Steps(out);
    const documents: LoadedDocument[] = [];
    for (const source of words) {
      progress.show(`Reading ${source}`);
      const { root, "allow-host": allow = [] } = options;
      const load = () => loaded(source, { allow, root, timeoutMs: flags.timeoutMs, signal });
      documents.push(await (URL.canParse(source) ? load() : endingAtOnce(load)));
    }
    const made = await endingAtOnce(() => makeDraft(documents, { ...context, folder, progress }));
    const { api, path, shown, files, imported, again, draft } = made;
    const isDry = options["dry-run"] === true;
    const text = again?.text ?? draft.text;
    if (!isDry && text !== imported?.text) {
      progress.show("Writing");
      signal.throwIfAborted();
      await writeImport({ path, folder, text, files, isUpdate: imported !== undefined });
    } else if (!isDry) {
      await keepBases(folder, files);
    }
    progress.end();
    if (out.json) out.value({ ...asJson(path, draft), ...(again ? reimportJson(again) : {}) });
    else if (imported && again) showReimport({ again, shown, isDry, isSame: text === imported.text }, out);
    else showImport({ draft, shown, api, isDry }, out);
  },
});

interface Importing extends Pick<CommandContext, "words" | "surroundings"> {
  options: {
    name?: string | undefined;
    select?: readonly string[] | undefined;
    rest?: string | undefined;
    base?: string | undefined;
  };
  folder: string;
  progress: Steps;
}

/** Everything that is written, and nothing is written yet. */
async function makeDraft(documents: readonly LoadedDocument[], importing: Importing) {
  const { words, options, surroundings, folder, progress } = importing;
  const fresh = withNames(documents);
  const said = joinFacts(await Promise.all(fresh.map(factsOf)));
  if (!said) throw wrongUsage("No description was given", "Give a file or an address.");
  if (said.operations.length + said.omitted.length === 0) throw withoutOperations(words);
  const api = options.name ?? apiIdFrom(said.title, basename(words[0] ?? "").replace(/\.[^.]*$/, ""));
  checkOptions(api, options);
  const path = join(folder, `${api}.nexus.yaml`);
  const shown = nearPath(path, { cwd: process.cwd(), home: surroundings.home });
  const imported = existsSync(path) ? importedBefore(path, shown) : undefined;
  const named = imported ? withNames(documents, imported) : fresh;
  const facts = (imported && joinFacts(await Promise.all(named.map(factsOf)))) ?? said;
  const files = named.map((document) => fileFor(document, { folder, api, imported }));
  progress.show(`Drafting ${facts.operations.length} tools`);
  const wanted: DraftOptions = {
    api,
    documents: documentSpecs(named, files),
    select: options.select ?? [],
    ...(options.rest === undefined ? {} : { rest: "search" as const }),
    base: options.base,
    documentUrl: addressOf(named[0]),
  };
  const again = imported ? await importAgain(imported, facts, wanted) : undefined;
  const draft = again?.draft ?? draftToolFile(facts, wanted);
  if (draft.tools.length === 0) throw withoutTools(words, draft);
  return { api, path, shown, files, imported, again, draft };
}

async function loaded(source: string, options: LoadDocumentOptions): Promise<LoadedDocument> {
  try {
    return await loadDocument(source, options);
  } catch (error) {
    if (!(error instanceof NexusError) || error.code !== "ADDRESS_REFUSED" || !URL.canParse(source)) throw error;
    const host = new URL(source).hostname.replaceAll(/[[\]]/g, "");
    throw new NexusError(error.code, error.message, {
      ...error.details,
      hint: `If you trust it, add --allow-host ${host}. Or save the description to a file and import that.`,
      cause: error,
    });
  }
}

function withoutOperations(given: readonly string[]): NexusError {
  const verb = given.length === 1 ? "has" : "have";
  return new NexusError("CONFIG_INVALID", `${given.join(", ")} ${verb} no operations, so no tools can be made`, {
    phase: "config",
    hint: "Import the document that describes the requests of the API.",
    mayHaveReached: false,
  });
}

/** A file without tools could be approved, and then serve nothing. */
function withoutTools(given: readonly string[], { omitted }: Draft): NexusError {
  const reasons = omissionLines(omitted).map((line) => line.trim());
  const message = `No tool can be made of ${given.join(", ")}, so nothing could be served. Left out: ${reasons.join("; ")}`;
  return new NexusError("CONFIG_INVALID", message, {
    phase: "config",
    hint: "Nothing was written. Correct the description, or import the one that describes the requests that clients send.",
    mayHaveReached: false,
  });
}

function importedBefore(path: string, shown: string): Imported {
  const text = findRegularText(path, MAX_FILE_BYTES);
  if (text === undefined) {
    throw new NexusError("CONFIG_INVALID", `${shown} exists and is not a tool file that can be read`, {
      phase: "config",
      hint: "Use another --name or --out, or move it away.",
      mayHaveReached: false,
    });
  }
  return readImported(text, shown, (document) => findStored(dirname(path), document));
}

/** What is being done, on a terminal only; the line is overwritten. */
class Steps {
  readonly #out: Output;

  constructor(out: Output) {
    this.#out = out;
  }

  show(text: string): void {
    if (this.#out.showsProgress) this.#out.draw(`\r\u001b[2K${text.slice(0, 70)} …`);
  }

  end(): void {
    if (this.#out.showsProgress) this.#out.draw("\r\u001b[2K");
  }
}

function checkOptions(api: string, { rest, base }: { rest?: string | undefined; base?: string | undefined }): void {
  if (!/^[a-z][a-z0-9-]{0,31}$/.test(api)) {
    throw wrongUsage(
      `"${api}" cannot be the id of an API`,
      "Use at most 32 small letters, digits and -, beginning with a letter.",
    );
  }
  if (rest !== undefined && rest !== "search")
    throw wrongUsage(`--rest "${rest}" is not known`, "Use --rest search, or leave it out.");
  if (base !== undefined && !/^https?:\/\/[^/]/i.test(base)) {
    throw wrongUsage(`--base "${base}" is not an http or https address`, "Use one like https://api.example/v1/.");
  }
  const open = base === undefined ? undefined : surePlaceholderIn(base);
  if (open !== undefined) {
    throw wrongUsage(
      `--base "${base}" has a part to fill in: ${visible(open)}`,
      "Give the whole address, as in https://acme.api.example/v1/.",
    );
  }
}

function asJson(path: string, { file, tools, omitted, questions, problems }: Draft): object {
  return {
    file: path,
    tools: tools.map(({ name, operation, effect, offer }) => {
      const spec = file?.tools[name];
      if (!file || !spec) return { name, operation, effect, offer };
      const inputSchema =
        offer === "list" ? toolDefinition(file, name, spec).inputSchema : fittedInputSchema(file, name, spec);
      return { name, operation, effect, offer, inputSchema };
    }),
    skipped: omitted.map(({ key, reason, detail }) => ({
      operation: key,
      reason,
      ...(detail === undefined ? {} : { detail }),
    })),
    questions,
    problems: problems.filter(({ severity }) => severity === "error"),
  };
}

const SHOWN_QUESTIONS = 8;
const SHOWN_ADDRESSES = 6;

interface ImportSummary {
  draft: Draft;
  /** The path of the tool file, for people. */
  shown: string;
  api: string;
  isDry: boolean;
}

/** Reasons that say nothing without what was found. */
const NEED_DETAIL: ReadonlySet<OmissionReason> = new Set(["unreadable-operation", "unresolved-reference"]);

function withDetail({ key, reason, detail }: OmittedOperation): string {
  return detail === undefined || !NEED_DETAIL.has(reason) ? key : `${key} (${shorten(detail, 120)})`;
}

/** Why operations did not become tools: one line for each reason, with the first ones. */
function omissionLines(omitted: readonly OmittedOperation[]): string[] {
  return [...groupedBy(omitted, ({ reason }) => reason)].map(([, same]) => {
    const reason = same[0] ? OMISSION_REASONS[same[0].reason] : "";
    const operations = joinFirst(same.map(withDetail), 3);
    return `${String(same.length).padStart(4)} ${reason}: ${visible(operations)}`;
  });
}

/** What was made, what was not and why, what has to be decided, and what to do next. */
function showImport({ draft, shown, isDry }: ImportSummary, out: Output): void {
  const { tools, omitted, questions, problems } = draft;
  out.line(`${isDry ? "Would make" : "Made"} ${shown} with ${pluralize(tools.length, "tool")}`);
  for (const [effect, same] of groupedBy(tools, (tool) => tool.effect)) {
    out.line(
      `  ${String(same.length).padStart(4)} ${effect.padEnd(11)}  ${visible(
        joinFirst(
          same.map(({ name }) => name),
          4,
        ),
      )}`,
    );
  }
  const searchable = tools.filter(({ offer }) => offer === "search").length;
  if (searchable > 0) {
    out.line(`  Listed: ${tools.length - searchable}. Found with the search tools (offer: search): ${searchable}.`);
  }
  const reached = draft.file?.upstream.allow ?? [];
  if (reached.length > 0) out.line(visible(`  Requests go to ${joinFirst(reached, SHOWN_ADDRESSES)}`));
  if (omitted.length > 0) {
    out.line("");
    out.line(`${pluralize(omitted.length, "operation")} did not become ${omitted.length === 1 ? "a tool" : "tools"}`);
    for (const line of omissionLines(omitted)) out.line(`  ${line}`);
  }
  if (questions.length > 0) {
    out.line("");
    out.line(`${pluralize(questions.length, "question")} to decide, also under "questions" in the file`);
    for (const { about, ask } of questions.slice(0, SHOWN_QUESTIONS)) out.line(visible(`  ${about}: ${ask}`));
    if (questions.length > SHOWN_QUESTIONS) out.line(`  and ${questions.length - SHOWN_QUESTIONS} more`);
  }
  const errors = problems.filter(({ severity }) => severity === "error");
  if (errors.length > 0) {
    out.line("");
    out.advice(
      `The draft has ${pluralize(errors.length, "error")}, which "nexus api check" shows. Correct them first.`,
    );
  }
  if (isDry) return;
  const again = quotePath(shown);
  out.line("");
  out.line("Next");
  if (questions.length > 0) out.advice(`  nexus api questions ${again}  answer the questions`);
  out.advice(`  nexus api check ${again}      look for mistakes and warnings`);
  out.advice(`  nexus api test ${again}       run its checks against a fake of the API`);
  out.advice(`  nexus api show ${again}       see tools, addresses and secrets`);
  out.advice(`  nexus api approve ${again}    approve it; the output says how to serve it`);
}

const SHOWN_PLACES = 12;

/** What an import changed in a file that existed, for programs. */
function reimportJson({ taken, edited, consequences, lost }: Reimport): object {
  return {
    taken: taken.filter(isVisible),
    edited: edited.filter(isVisible),
    proposed: consequences.map(({ proposal: { where, mine, theirs }, changes, problem }) => ({
      path: where,
      mine,
      theirs,
      changes,
      ...(problem === undefined ? {} : { problem }),
    })),
    ...(lost.length === 0 ? {} : { lostDocuments: lost }),
  };
}

/** What was taken over, what stays because a person edited it, what is proposed, and what to do next. */
function showReimport(
  { again, shown, isDry, isSame }: { again: Reimport; shown: string; isDry: boolean; isSame: boolean },
  out: Output,
): void {
  const { lost, consequences } = again;
  if (isSame && consequences.length === 0) out.line(`${shown} is up to date; nothing was changed.`);
  else out.line(`${isSame ? "Kept" : isDry ? "Would update" : "Updated"} ${shown}`);
  if (lost.length > 0) {
    out.line(
      `  The old version of ${joinFirst(lost, 3)} is not beside the file any more, so edits cannot be told from changes of the description. All differences are proposed.`,
    );
  }
  showPlaces(out, "Taken over from the description", again.taken);
  showPlaces(out, "Stays, because it was edited", again.edited);
  if (consequences.length > 0) showProposals(out, consequences);
  if (isDry || isSame) return;
  const word = quotePath(shown);
  out.line();
  out.line("Next");
  if (again.taken.some(({ path }) => path === "questions"))
    out.advice(`  nexus api questions ${word}  answer the questions`);
  out.advice(`  nexus api diff ${word}       see what changed since the approval`);
  out.advice(`  nexus api test ${word}       run its checks against a fake of the API`);
  out.advice(`  nexus api approve ${word}    approve the new version`);
}

/** The documents and the line about the selection always follow the import. */
function isVisible({ path }: TakenChange): boolean {
  return path !== "nexus" && path !== "documents" && !path.startsWith("documents.");
}

function showPlaces(out: Output, title: string, all: readonly TakenChange[]): void {
  const places = all.filter(isVisible);
  if (places.length === 0) return;
  out.line();
  out.line(`${title}: ${pluralize(places.length, "place")}`);
  for (const [what, same] of groupedBy(places, (place) => place.what)) {
    for (const { path } of same.slice(0, SHOWN_PLACES)) out.line(`  ${what.padEnd(7)}  ${visible(path)}`);
    if (same.length > SHOWN_PLACES) out.line(`  ${what.padEnd(7)}  and ${same.length - SHOWN_PLACES} more`);
  }
}

function showProposals(out: Output, consequences: readonly Consequence[]): void {
  out.line();
  out.line(
    `Proposed: ${pluralize(consequences.length, "place")}, changed both in the file and in the description. The file keeps the edit; change it by hand if the description is right.`,
  );
  for (const { proposal, changes, problem } of consequences) {
    out.line(`  ${visible(proposal.where)}`);
    out.line(`      file:        ${asText(proposal.mine)}`);
    out.line(`      description: ${asText(proposal.theirs)}`);
    if (problem !== undefined) out.line(`      It cannot be taken over alone: ${visible(problem)}`);
    else if (changes.length === 0) out.line("      Taking it over changes nothing for callers.");
    else showChanges({ line: (text) => out.line(`    ${text}`), style: out.style.bind(out) }, changes);
  }
}

function asText(value: unknown): string {
  return value === undefined ? "(not there)" : visible(shorten(JSON.stringify(value), 300));
}
