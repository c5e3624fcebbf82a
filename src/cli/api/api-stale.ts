import { dirname, resolve } from "node:path";
import { findRegularText } from "../../files/regular-file.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { sha256 } from "../../text/digest.ts";
import { shorten } from "../../text/shorten.ts";
import { visible } from "../../text/visible.ts";
import type { Citation } from "../../workshop/compile/citations.ts";
import { loadDocument, type LoadDocumentOptions } from "../../workshop/documents/load/load-document.ts";
import { cleanedText, MAX_DOCUMENT_LENGTH } from "../../workshop/documents/parse-document.ts";
import type { ToolFile } from "../../workshop/file/model/tool-file.ts";
import { approvedDocuments } from "../../workshop/review/packed-documents.ts";
import type { StalePlace } from "../../workshop/review/stale.ts";
import { textChanges } from "../../workshop/review/text-changes.ts";
import { compareDocuments, type DocumentVersions, type Uncompared } from "../../workshop/stale/compare-documents.ts";
import { defineCommand } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { pluralize } from "../output/amounts.ts";
import type { Output } from "../output/output.ts";
import { findStored } from "./import-files.ts";
import { loadNamed, type NamedApi } from "./loaded.ts";

const SHOWN = 400;
const SHOWN_CHANGES = 3;

/** nexus api stale petstore --document openapi=https://api.example/openapi.json */
export const apiStale = defineCommand({
  usage: "nexus api stale <api> [--document NAME=FILE|URL]… [--root DIR]",
  description: `
Lists everything in a tool file that a newer version of its documents says differently: types, fields, values, parameters,
addresses, credentials, failures, rules and tools, with the place in the file and in the document, the old and the new text.
--document compares the document that the file was written from with a newer one, from a file or an address. Without it, the
documents beside the file are compared with those at the last approval. What only changes the layout, the order or a comment
of a description is not stale, and lines that only moved are listed with their new place. An approval of an older Nexus
(format 1) has only hashes of what is cited, so the rest can be compared only if the earlier document is still there. Nothing
is changed.
Exit code 0: nothing is stale; 10: something is, or a part could not be compared.`,
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

  async run({ words: [given = ""], options, flags, out, surroundings, signal }) {
    const loaded = await loadNamed(given, surroundings.home);
    const { file, path, documents } = loaded;
    if (!file) throw unusable(loaded);
    const newer = await newerDocuments(options.document ?? [], file, {
      root: options.root,
      timeoutMs: flags.timeoutMs,
      signal,
    });
    const versions = await versionsToCompare(loaded, file, newer);
    const { stale, moved, uncompared: unread, otherwise } = await compareDocuments(file, versions);
    const uncompared = [...unread, ...withoutEarlier(versions, loaded, file)];
    const exit = stale.length + uncompared.length > 0 ? 10 : 0;
    if (out.json) {
      const compared = Object.keys(newer.size > 0 ? Object.fromEntries(newer) : documents).map((name) => ({
        name,
        before: file.documents[name]?.sha256,
        after: sha256(newer.get(name) ?? documents[name] ?? ""),
      }));
      out.value({ file: path, documents: compared, stale, moved, uncompared });
      return exit;
    }
    for (const place of stale) showStale(out, place);
    for (const { path: where, evidence, to } of moved) out.line(visible(`moved    ${where}: ${evidence} is now ${to}`));
    for (const { document, why } of uncompared) {
      out.line(`${out.style("yellow", "not compared")}  ${visible(`${document}: ${why}`)}`);
    }
    if (stale.length + moved.length + uncompared.length > 0) out.line();
    out.advice(summary(stale, moved.length, uncompared.length));
    if (uncompared.length === 0 && otherwise.length > 0) {
      out.line(
        visible(
          `The rest of the changes in ${otherwise.join(", ")} is not in the file, or only layout, order and comments.`,
        ),
      );
    }
    return exit;
  },
});

function summary(stale: readonly StalePlace[], moved: number, uncompared: number): string {
  const also = moved === 0 ? "" : ` ${pluralize(moved, "place")} only moved.`;
  if (stale.length === 0 && uncompared > 0) return `Nothing else was found to be stale.${also}`;
  if (stale.length === 0) return `Nothing is stale.${also}`;
  const tools = new Set(stale.flatMap((place) => place.tools));
  const about = tools.size === 0 ? "" : `, in ${pluralize(tools.size, "tool")}: ${[...tools].toSorted().join(", ")}`;
  return `${pluralize(new Set(stale.map(({ path }) => path)).size, "place")} of the file to check${visible(about)}.${also}`;
}

/** What is compared: a newer document with the one that the file was written from, or the stored ones with the approval. */
async function versionsToCompare(
  { documents, lock, path, again }: NamedApi,
  file: ToolFile,
  newer: ReadonlyMap<string, string>,
): Promise<DocumentVersions> {
  const approved = lock ? await approvedDocuments(lock) : {};
  const isNewer = newer.size > 0;
  // At the approval, the file may have been written from another version than now.
  const specs = (isNewer ? undefined : lock?.compiled.file.documents) ?? file.documents;
  const earlier = Object.entries(specs).flatMap(([name, { sha256: hash }]) => {
    const stored = file.documents[name]?.file;
    const kept = stored === undefined ? undefined : findStored(dirname(path), { file: stored, sha256: hash });
    const text = [documents[name], approved[name], kept?.replaceAll("\r\n", "\n")].find(
      (each) => each !== undefined && sha256(each) === hash,
    );
    // A newer document has no credentials, and older copies may have some.
    return text === undefined ? [] : [[name, cleanedText(text, name, stored)] as const];
  });
  const before = Object.fromEntries(earlier);
  const citations: Readonly<Record<string, Citation>> = lock?.compiled.citations ?? {};
  if (isNewer) return { before, after: Object.fromEntries(newer), citations };
  const lost = Object.keys(documents).some((name) => before[name] === undefined);
  if (!lock && lost) {
    throw new NexusError(
      "CONFIG_INVALID",
      "The documents have changed, and there is no approval to compare them with",
      {
        hint: `Restore the documents that the file was written from, then compare: nexus api stale ${again} --document NAME=FILE`,
        mayHaveReached: false,
      },
    );
  }
  return { before, after: documents, citations };
}

/** Documents whose earlier text nobody has: of these only what is cited can be compared, by the hashes of the approval. */
function withoutEarlier({ before, after }: DocumentVersions, { lock, again }: NamedApi, file: ToolFile): Uncompared[] {
  return Object.keys(after).flatMap((name) => {
    if (before[name] !== undefined) return [];
    const what =
      lock?.format === undefined && lock
        ? "the approval has format 1, with hashes of cited places alone"
        : "the document that the file was written from is not there, and the lock has no copy of it";
    const stored = file.documents[name]?.file ?? name;
    return [
      {
        document: name,
        why: `${what}, so types, addresses, credentials and failures could not be compared. Restore the earlier ${stored} and run "nexus api stale ${again} --document ${name}=NEWER"; or check the file against the new one, then approve it again: nexus api approve ${again}`,
      },
    ];
  });
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
  return cleanedText(text.replaceAll("\r\n", "\n"), options.name ?? "", source);
}

function showStale(out: Output, { path, evidence, member, change, before, after }: StalePlace): void {
  const what = member === undefined ? "" : `, ${member}`;
  out.line(`${out.style("red", change.padEnd(7))}  ${visible(`${path}: ${evidence}${what}`)}`);
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
