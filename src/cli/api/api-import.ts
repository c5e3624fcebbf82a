import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { writeAtomic } from "../../files/atomic-write.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { findRegularText } from "../../files/regular-file.ts";
import { toolDefinition } from "../../workshop/compile/tool-definition.ts";
import type { ApiFacts } from "../../workshop/documents/api-facts.ts";
import { loadDocument } from "../../workshop/documents/load-document.ts";
import type { LoadedDocument } from "../../workshop/documents/parse-document.ts";
import { draftToolFile, type Draft, type DraftOptions } from "../../workshop/draft/draft-tool-file.ts";
import { apiIdFrom, factsOf, joinFacts } from "../../workshop/draft/import-documents.ts";
import { wrongUsage } from "../command/command-line.ts";
import { defineCommand } from "../command/command.ts";
import { nearPath } from "../output/short-path.ts";
import type { Output } from "../output/output.ts";
import { importAgain, showMerge, type ImportAgain } from "./import-again.ts";
import { showImport } from "./import-summary.ts";

const MAX_BYTES = 32 * 1024 * 1024;

/** nexus api import openapi.yaml --select tag:pets */
export const apiImport = defineCommand({
  usage:
    "nexus api import <file|url>… [--name ID] [--out DIR] [--select WHAT]… [--rest search] [--base URL] [--dry-run]",
  description: `
Makes a tool file of an API description: OpenAPI 2.0, 3.0, 3.1 or 3.2, or a Postman collection 2.x, from files or addresses.
No model is used: the same description gives the same file. Every operation becomes a tool, or is listed with the reason why
it did not. The file is a draft: it is served only after it was approved. What the description does not say is in its
"questions". The description is copied beside the file, because the evidence in the file refers to it.
--select takes tag:pets, path:/pets/**, op:listPets, read, write, destructive or a pattern for names such as list_*, and is
repeatable; -… excludes. Of more than 40 tools, the most central ones are listed and the others are found by searching.`,
  words: { min: 1, max: 20 },
  options: {
    name: { type: "string", value: "ID", help: "id of the API and of its server; default: made of the title" },
    out: { type: "string", value: "DIR", help: "folder of the tool file; default: the current one" },
    select: { type: "string", multiple: true, value: "WHAT", help: "only these operations; repeatable" },
    rest: { type: "string", value: "search", help: "keep what is not selected, but only for searching" },
    base: { type: "string", value: "URL", help: "base address of the API; default: the first https server" },
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

  async run({ words, options, out, signal, surroundings }) {
    const folder = resolve(options.out ?? ".");
    const progress = new Steps(out);
    const documents: LoadedDocument[] = [];
    for (const source of words) {
      progress.show(`Reading ${source}`);
      documents.push(await loadDocument(source, { signal }));
    }
    const named = withNames(documents);
    const facts = joinFacts(named.map(factsOf));
    if (!facts) throw wrongUsage("No description was given", "Give a file or an address.");
    const api = options.name ?? apiIdFrom(facts.title, basename(words[0] ?? "").replace(/\.[^.]*$/, ""));
    checkOptions(api, options);
    const path = join(folder, `${api}.nexus.yaml`);
    const isDry = options["dry-run"] === true;
    const shown = nearPath(path, { cwd: process.cwd(), home: surroundings.home });
    const draftOf = (facts: ApiFacts, specs: DraftOptions["documents"]) =>
      draftToolFile(facts, {
        api,
        documents: specs,
        select: options.select ?? [],
        ...(options.rest === undefined ? {} : { rest: "search" as const }),
        base: options.base,
        documentUrl: addressOf(named[0]),
      });
    if (existsSync(path)) {
      const draft: ImportAgain["draft"] = (all, specs) => draftOf(joinFacts(all.map(factsOf)) ?? facts, specs).text;
      const { merged, consequences } = await importAgain({ path, folder, documents: named, draft, isDry });
      progress.end();
      if (out.json) out.value({ file: path, taken: merged.taken, proposals: consequences });
      else showMerge(out, { merged, consequences, shown, isDry });
      return;
    }
    const files = named.map((document) => fileFor(document, folder, api));
    progress.show(`Drafting ${facts.operations.length} tools`);
    const draft = draftOf(facts, documentSpecs(named, files));
    if (!isDry) {
      progress.show("Writing");
      await write({ path, folder, draft, files });
    }
    progress.end();
    if (out.json) out.value(asJson(path, draft));
    else showImport({ draft, shown, api, isDry }, out);
  },
});

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

/** A single document is called by its format, because its evidence is everywhere in the file. */
function withNames(documents: readonly LoadedDocument[]): LoadedDocument[] {
  const [only, ...others] = documents;
  if (only && others.length === 0)
    return [{ ...only, name: only.format.startsWith("postman") ? "postman" : "openapi" }];
  const taken = new Set<string>();
  return documents.map((document) => {
    let { name } = document;
    for (let more = 2; taken.has(name); more++) name = `${document.name}-${more}`;
    taken.add(name);
    return { ...document, name };
  });
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
}

interface DocumentFile {
  /** Relative to the tool file. */
  name: string;
  text: string;
  /** Whether it is there already with the same text. */
  isThere: boolean;
}

/** The file beside the tool file that keeps the document: the original if it is there already. */
function fileFor({ name, text, source = "" }: LoadedDocument, folder: string, api: string): DocumentFile {
  const own = basename(source);
  const ending = /^\s*[[{]/.test(text) ? "json" : "yaml";
  const usual = /^[\w.-]+\.(?:json|ya?ml)$/i.test(own) && !own.endsWith(".nexus.yaml") ? own : `${name}.${ending}`;
  for (const candidate of [usual, `${api}.${name}.${ending}`]) {
    const found = findRegularText(join(folder, candidate), MAX_BYTES);
    if (found === undefined && !existsSync(join(folder, candidate))) return { name: candidate, text, isThere: false };
    if (found?.replaceAll("\r\n", "\n") === text) return { name: candidate, text, isThere: true };
  }
  throw new NexusError("CONFIG_INVALID", `${join(folder, usual)} exists and is another document`, {
    phase: "config",
    hint: "Move it away, or use --out with another folder.",
    mayHaveReached: false,
  });
}

function documentSpecs(
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

function addressOf(document: LoadedDocument | undefined): string | undefined {
  const { source } = document ?? {};
  return source !== undefined && /^https?:/i.test(source) ? source : undefined;
}

async function write({
  path,
  folder,
  draft,
  files,
}: {
  path: string;
  folder: string;
  draft: Draft;
  files: readonly DocumentFile[];
}): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const { name, text, isThere } of files) if (!isThere) await writeAtomic(join(folder, name), text, 0o644);
  await writeAtomic(path, draft.text, 0o644);
}

function asJson(path: string, { file, tools, omitted, questions, problems }: Draft): unknown {
  return {
    file: path,
    tools: tools.map(({ name, operation, effect, offer }) => {
      const spec = file?.tools[name];
      const schema = file && spec ? { inputSchema: toolDefinition(file, name, spec).inputSchema } : {};
      return { name, operation, effect, offer, ...schema };
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
