import type { ResourceContents } from "../../protocol/mcp.ts";
import type { ResourceFeature, TemplateFeature } from "../../server/features/features.ts";
import { isLines } from "../compile/citations.ts";
import { CitedDocument, partText } from "../compile/cited-document.ts";
import { cleanProse } from "../documents/cleaned/credential-text.ts";
import { cleanedText } from "../documents/parse-document.ts";
import { shorten } from "../../text/shorten.ts";
import type { CompiledApi } from "../compile/compile.ts";
import { chaptersOf } from "./chapters.ts";

const MARKDOWN = "text/markdown";
const MIME_TYPES: readonly [RegExp, string][] = [
  [/\.(?:json|har)$/i, "application/json"],
  [/\.ya?ml$/i, "application/yaml"],
  [/\.(?:md|markdown|mdx)$/i, MARKDOWN],
  [/\.x?html?$/i, "text/html"],
  [/\.(?:xml|wsdl|xsd)$/i, "application/xml"],
  [/\.(?:graphqls?|gql)$/i, "application/graphql"],
];
/** A longer part is cut; the whole document has it. */
const MAX_PART = 64 * 1024;
const LINES = /^L([1-9]\d{0,8})(?:-L([1-9]\d{0,8}))?$/;
const PAGE = /^P([1-9]\d{0,5})$/;

/** A document without credentials, which a copy may have. It is read when a client asks for it. */
class ServedDocument {
  readonly original: string;
  readonly #name: string;
  readonly #file: string | undefined;
  #cited: CitedDocument | undefined;

  constructor(name: string, text: string, file: string | undefined) {
    this.original = text;
    this.#name = name;
    this.#file = file;
  }

  get cited(): CitedDocument {
    this.#cited ??= new CitedDocument(cleanedText(this.original, this.#name, this.#file), this.#name);
    return this.#cited;
  }
}

/** The documents of a tool file: complete, by chapter, by lines, and by JSON pointer. */
export class DocumentResources {
  readonly #api: CompiledApi;
  readonly #documents: ReadonlyMap<string, ServedDocument>;
  readonly #redacted: (text: string) => Promise<string>;

  constructor(
    api: CompiledApi,
    documents: Readonly<Record<string, string>>,
    redacted: (text: string) => Promise<string>,
  ) {
    this.#api = api;
    this.#documents = new Map(
      Object.entries(documents).map(([name, text]) => {
        return [name, new ServedDocument(name, text, api.file.documents[name]?.file)];
      }),
    );
    this.#redacted = redacted;
  }

  /** Each document, followed by its cited chapters: few enough for clients that list them all. */
  listed(): ResourceFeature[] {
    const { file, citations } = this.#api;
    const lines = Object.values(citations).filter(isLines);
    return Object.entries(file.documents).flatMap(([name, { title = name, file: path }]) => {
      const document = this.#documents.get(name);
      if (!document) return [];
      const mimeType = mimeTypeOf(path);
      // Lines of YAML that begin with # are comments.
      const chapters = (mimeType === MARKDOWN ? chaptersOf(document.original) : []).filter(({ from, to }) =>
        lines.some((citation) => citation.document === name && citation.from <= to && citation.to >= from),
      );
      const whole = { name, title, description: `${title}, the whole document`, mimeType };
      return [
        this.#listed(`doc://${file.api}/${name}`, whole, () => document.cited.text),
        ...chapters.map(({ heading: written, from, to }) => {
          const heading = cleanProse(written);
          const about = {
            name: `${name} L${from}-L${to}`,
            title: heading,
            description: `${title}: ${heading}`,
            mimeType,
          };
          return this.#listed(`doc://${file.api}/${name}/L${from}-L${to}`, about, () =>
            document.cited.quote({ from, to }),
          );
        }),
      ];
    });
  }

  /** The targets of evidence. */
  places(): TemplateFeature {
    return {
      template: {
        uriTemplate: `doc://${this.#api.file.api}/{document}/{place}`,
        name: "parts of a document",
        description:
          "A part of a document, as the evidence of a tool file cites it: L12 or L12-L14 for lines, P5 for a page of a PDF, or the percent-encoded JSON pointer of a part, such as %2Fpaths%2F~1pets.",
      },
      read: async (uri, { document: name = "", place = "" }) => {
        const document = this.#documents.get(name);
        const text = document && placeText(document.cited, place);
        return text === undefined ? undefined : this.#contents(uri, text, this.#mimeType(name, place));
      },
    };
  }

  /** A part is shown as JSON, whatever the format of its document. */
  #mimeType(name: string, place: string): string {
    return LINES.test(place) || PAGE.test(place)
      ? mimeTypeOf(this.#api.file.documents[name]?.file ?? "")
      : "application/json";
  }

  #listed(
    uri: string,
    about: { name: string; title: string; description: string; mimeType: string },
    text: () => string,
  ): ResourceFeature {
    const annotations = { audience: ["user", "assistant"], priority: 0.3 };
    return { resource: { uri, ...about, annotations }, read: () => this.#contents(uri, text(), about.mimeType) };
  }

  async #contents(uri: string, text: string, mimeType: string): Promise<ResourceContents[]> {
    return [{ uri, mimeType, text: await this.#redacted(text) }];
  }
}

/** Undefined if there is nothing at this place. */
function placeText(document: CitedDocument, place: string): string | undefined {
  const page = PAGE.exec(place)?.[1];
  if (page !== undefined) return document.findPage(Number(page));
  const [lines, first, last = first] = LINES.exec(place) ?? [];
  if (lines === undefined) {
    const part = place.startsWith("/") ? document.findPart(place) : undefined;
    return part && shorten(partText(part), MAX_PART);
  }
  const [from, to] = [Number(first), Number(last)];
  const quoted = from <= to ? document.quote({ from, to }) : "";
  return quoted === "" ? undefined : quoted;
}

function mimeTypeOf(file: string): string {
  return MIME_TYPES.find(([ending]) => ending.test(file))?.[1] ?? "text/plain";
}
