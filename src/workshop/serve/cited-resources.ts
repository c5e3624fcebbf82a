import type { ResourceFeature } from "../../server/features.ts";
import { quote, type Citation } from "../compile/citations.ts";
import type { CompiledApi } from "../compile/compile.ts";

/** Every part of a document that the file cites, each once, in the order of the documents. */
export function citedResources(
  { file, citations }: CompiledApi,
  documents: Readonly<Record<string, string>>,
  redacted: (text: string) => Promise<string>,
): ResourceFeature[] {
  const byUri = new Map(Object.values(citations).map((citation) => [uriOf(file.api, citation), citation]));
  return [...byUri].flatMap(([uri, citation]) => {
    const text = documents[citation.document];
    if (text === undefined) return [];
    const { title = citation.document } = file.documents[citation.document] ?? {};
    const resource = {
      uri,
      name: `${citation.document} ${linesOf(citation)}`,
      title: citation.heading,
      description: `${title}, ${linesOf(citation)}`,
      mimeType: "text/markdown",
      annotations: { audience: ["user", "assistant"], priority: 0.3 },
    };
    const read = async () => [{ uri, mimeType: resource.mimeType, text: await redacted(quote(text, citation)) }];
    return [{ resource, read }];
  });
}

function uriOf(api: string, citation: Citation): string {
  return `doc://${api}/${citation.document}/${linesOf(citation)}`;
}

function linesOf({ from, to }: Citation): string {
  return from === to ? `L${from}` : `L${from}-L${to}`;
}
