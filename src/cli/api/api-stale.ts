import { resolve } from "node:path";
import { findRegularText } from "../../files/regular-file.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { sha256 } from "../../text/digest.ts";
import { shorten } from "../../text/shorten.ts";
import { visible } from "../../text/visible.ts";
import { citationsOf, type Citation } from "../../workshop/compile/citations.ts";
import { loadDocument, type LoadDocumentOptions } from "../../workshop/documents/load/load-document.ts";
import { MAX_DOCUMENT_LENGTH } from "../../workshop/documents/parse-document.ts";
import type { ToolFile } from "../../workshop/file/model/tool-file.ts";
import { staleIn, type StaleOptions, type StalePlace } from "../../workshop/review/stale.ts";
import { textChanges } from "../../workshop/review/text-changes.ts";
import { defineCommand } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { pluralize } from "../output/amounts.ts";
import type { Output } from "../output/output.ts";
import { loadNamed, type NamedApi } from "./loaded.ts";

const SHOWN = 400;
const SHOWN_CHANGES = 3;

/** nexus api stale petstore --document openapi=https://api.example/openapi.json */
export const apiStale = defineCommand({
  usage: "nexus api stale <api> [--document NAME=FILE|URL]… [--root DIR]",
  description: `
Lists the types, fields, rules and tools of a tool file whose evidence has changed, with the old and the new text. --document
compares the document that the file was written from with a newer one, from a file or an address. Without it, the documents
beside the file are compared with those at the last approval; of these only hashes are kept, so the old text is not shown.
Lines that only moved are listed with their new place. Nothing is changed.
Exit code 0: nothing is stale; 10: something is.`,
  words: { min: 1, max: 1 },
  options: {
    document: {
      type: "string",
      multiple: true,
      value: "NAME=FILE|URL",
      help: "a newer version of a document; the name may be left out if there is only one",
    },
    root: { type: "string", value: "DIR", help: "a folder around the documents, whose files they may refer to" },
  },
  examples: [
    [
      "nexus api stale petstore --document openapi=https://api.example/openapi.json",
      "compare with the newest description",
    ],
    ["nexus api stale capcorn", "compare the documents with those at the approval"],
  ],

  async run({ words: [given = ""], options, out, surroundings, signal }) {
    const loaded = await loadNamed(given, surroundings.home);
    const { file, path, documents } = loaded;
    if (!file) throw unusable(loaded);
    const newer = await newerDocuments(options.document ?? [], file, { root: options.root, signal });
    const { stale, moved } = staleIn(file, comparison(loaded, file, newer));
    const exit = stale.length > 0 ? 10 : 0;
    if (out.json) {
      const compared = Object.keys(newer.size > 0 ? Object.fromEntries(newer) : documents).map((name) => ({
        name,
        before: file.documents[name]?.sha256,
        after: sha256(newer.get(name) ?? documents[name] ?? ""),
      }));
      out.value({ file: path, documents: compared, stale, moved });
      return exit;
    }
    for (const place of stale) showStale(out, place);
    for (const { path: where, evidence, to } of moved) out.line(visible(`moved    ${where}: ${evidence} is now ${to}`));
    if (stale.length + moved.length > 0) out.line();
    out.line(summary(stale, moved.length));
    return exit;
  },
});

function summary(stale: readonly StalePlace[], moved: number): string {
  const also = moved === 0 ? "" : ` ${pluralize(moved, "place")} only moved.`;
  if (stale.length === 0) return `Nothing is stale.${also}`;
  const tools = new Set(stale.flatMap((place) => place.tools));
  const about = tools.size === 0 ? "" : `, in ${pluralize(tools.size, "tool")}: ${[...tools].toSorted().join(", ")}`;
  return `${pluralize(new Set(stale.map(({ path }) => path)).size, "place")} of the file to check${visible(about)}.${also}`;
}

/** What is compared: a newer document with the stored one, or the stored ones with the approval. */
function comparison(
  { documents, lock, again }: NamedApi,
  file: ToolFile,
  newer: ReadonlyMap<string, string>,
): StaleOptions {
  if (newer.size > 0) {
    return { citations: citationsOf(file, documents).citations, before: documents, after: Object.fromEntries(newer) };
  }
  const isSame = Object.entries(documents).every(([name, text]) => sha256(text) === file.documents[name]?.sha256);
  if (!lock && !isSame) {
    throw new NexusError(
      "CONFIG_INVALID",
      "The documents have changed, and there is no approval to compare them with",
      {
        hint: `Restore the documents that the file was written from, then compare: nexus api stale ${again} --document NAME=FILE`,
        mayHaveReached: false,
      },
    );
  }
  const citations: Readonly<Record<string, Citation>> = lock?.compiled.citations ?? {};
  return { citations, before: {}, after: documents };
}

async function newerDocuments(
  given: readonly string[],
  file: ToolFile,
  options: LoadDocumentOptions,
): Promise<Map<string, string>> {
  const known = Object.keys(file.documents);
  const found = new Map<string, string>();
  for (const each of given) {
    const at = each.indexOf("=");
    const isNamed = at > 0 && known.includes(each.slice(0, at));
    const [only] = known;
    const name = isNamed ? each.slice(0, at) : known.length === 1 ? only : undefined;
    if (name === undefined) {
      throw wrongUsage(
        `--document ${each} does not name a document of the file`,
        `Write NAME=FILE. Names: ${known.join(", ")}.`,
      );
    }
    found.set(name, await textOf(isNamed ? each.slice(at + 1) : each, { ...options, name }));
  }
  return found;
}

/** Files that are not only text, or may refer to others, are read as an import reads them. */
const LOADED = /^https?:\/\/|\.(?:pdf|ya?ml|json|wsdl)$/i;

async function textOf(source: string, options: LoadDocumentOptions): Promise<string> {
  if (LOADED.test(source)) return (await loadDocument(source, options)).text;
  const text = findRegularText(resolve(source), MAX_DOCUMENT_LENGTH);
  if (text === undefined) {
    throw new NexusError("CONFIG_INVALID", `There is no file ${source} with at most ${MAX_DOCUMENT_LENGTH} bytes`, {
      phase: "config",
      hint: "Give the path of the newer document, or its address (https://…).",
      mayHaveReached: false,
    });
  }
  return text.replaceAll("\r\n", "\n");
}

function showStale(out: Output, { path, evidence, change, before, after }: StalePlace): void {
  out.line(`${out.style("red", change.padEnd(7))}  ${visible(`${path}: ${evidence}`)}`);
  for (const line of changedLines(before, after)) {
    const style = line.startsWith("-") ? "red" : "green";
    out.line(`      ${out.style(style, visible(line))}`);
  }
}

/** The places of a long text that differ; otherwise both texts, shortened. */
function changedLines(before: string | undefined, after: string | undefined): string[] {
  const line = (sign: string, text: string) => `${sign} ${shorten(text.replaceAll(/\s+/g, " ").trim(), SHOWN)}`;
  if (before !== undefined && after !== undefined && before.length + after.length > SHOWN) {
    const changes = textChanges(before.slice(0, 20_000), after.slice(0, 20_000));
    return changes
      .slice(0, SHOWN_CHANGES)
      .flatMap(({ lead, removed, added, rest }) => [
        ...(removed === "" ? [] : [line("-", `${lead}${removed}${rest}`)]),
        ...(added === "" ? [] : [line("+", `${lead}${added}${rest}`)]),
      ]);
  }
  return [...(before === undefined ? [] : [line("-", before)]), ...(after === undefined ? [] : [line("+", after)])];
}

function unusable({ shown, again, problems }: NamedApi): NexusError {
  const [first] = problems;
  return new NexusError("CONFIG_INVALID", `The tool file ${shown} has mistakes: ${first?.message ?? ""}`, {
    phase: "config",
    hint: `See all of them: nexus api check ${again}`,
    mayHaveReached: false,
  });
}
