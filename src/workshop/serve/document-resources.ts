import type { ResourceContents } from "../../protocol/mcp.ts";
import type { ResourceFeature, TemplateFeature } from "../../server/features/features.ts";
import { quote } from "../compile/citations.ts";
import type { CompiledApi } from "../compile/compile.ts";
import { chaptersOf } from "./chapters.ts";

const MARKDOWN = "text/markdown";
const LINES = /^L([1-9]\d{0,8})(?:-L([1-9]\d{0,8}))?$/;

/** The documents of a tool file: complete, by chapter, and by lines. */
export class DocumentResources {
  readonly #api: CompiledApi;
  readonly #documents: Readonly<Record<string, string>>;
  readonly #redacted: (text: string) => Promise<string>;

  constructor(
    api: CompiledApi,
    documents: Readonly<Record<string, string>>,
    redacted: (text: string) => Promise<string>,
  ) {
    this.#api = api;
    this.#documents = documents;
    this.#redacted = redacted;
  }

  /** Each document, followed by its cited chapters: few enough for clients that list them all. */
  listed(): ResourceFeature[] {
    const { file, citations } = this.#api;
    const cited = Object.values(citations);
    return Object.entries(file.documents).flatMap(([name, { title = name }]) => {
      const text = this.#text(name);
      if (text === undefined) return [];
      const chapters = chaptersOf(text).filter(({ from, to }) =>
        cited.some((citation) => citation.document === name && citation.from <= to && citation.to >= from),
      );
      return [
        this.#listed(`doc://${file.api}/${name}`, { name, title, description: `${title}, the whole document` }, text),
        ...chapters.map(({ heading, from, to }) => {
          const about = { name: `${name} L${from}-L${to}`, title: heading, description: `${title}: ${heading}` };
          return this.#listed(`doc://${file.api}/${name}/L${from}-L${to}`, about, quote(text, { from, to }));
        }),
      ];
    });
  }

  /** The targets of evidence. */
  lines(): TemplateFeature {
    return {
      template: {
        uriTemplate: `doc://${this.#api.file.api}/{document}/{lines}`,
        name: "lines of a document",
        description: "Some lines of a document, as the evidence of a tool file cites them: L12, or L12-L14.",
        mimeType: MARKDOWN,
      },
      read: async (uri, { document = "", lines = "" }) => {
        const text = this.#text(document);
        const [, first, last = first] = LINES.exec(lines) ?? [];
        const [from, to] = [Number(first), Number(last)];
        const quoted = text === undefined || !(from <= to) ? "" : quote(text, { from, to });
        return quoted === "" ? undefined : this.#contents(uri, quoted);
      },
    };
  }

  #listed(uri: string, about: { name: string; title: string; description: string }, text: string): ResourceFeature {
    const annotations = { audience: ["user", "assistant"], priority: 0.3 };
    return { resource: { uri, ...about, mimeType: MARKDOWN, annotations }, read: () => this.#contents(uri, text) };
  }

  async #contents(uri: string, text: string): Promise<ResourceContents[]> {
    return [{ uri, mimeType: MARKDOWN, text: await this.#redacted(text) }];
  }

  #text(document: string): string | undefined {
    return Object.hasOwn(this.#documents, document) ? this.#documents[document] : undefined;
  }
}
