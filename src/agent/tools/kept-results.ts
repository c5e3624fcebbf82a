import { RecentMap } from "../../async/recent-map.ts";
import type { CallToolResult } from "../../protocol/mcp.ts";
import type { ModelMessage } from "../model/model-message.ts";
import type { DataOrigin } from "./origin.ts";
import { textResult, type OwnTool } from "./own-tool.ts";

/** Characters of all kept results together; the oldest are dropped first. */
const MAX_KEPT = 16 * 1024 * 1024;
const READ_RESULT = "read_result";
/** The id in a result that was shortened. */
const NAMED = /\bread_result \{"id":"result-(\d{1,9})"/g;

interface KeptResult {
  origin: DataOrigin | undefined;
  text: string;
}

/** The whole texts of results of which the model got only the beginning. */
export class KeptResults {
  readonly #maxResult: number;
  readonly #results = new RecentMap<string, KeptResult>({ maxWeight: MAX_KEPT, weigh: ({ text }) => text.length });
  #count: number;

  /** `messages`: a conversation that is continued. Its ids are not used again, because they mean other results. */
  constructor(maxResult: number, messages: readonly ModelMessage[] = []) {
    this.#maxResult = maxResult;
    // Not as parameters of Math.max: a saved chat may name more results than a function takes.
    this.#count = messages.flatMap(numbersIn).reduce((most, number) => Math.max(most, number), 0);
  }

  /** Whether the conversation names a result, so that the model may want to read it. */
  get isNamed(): boolean {
    return this.#count > 0;
  }

  /** The beginning of a text that is too long, with how to read on; undefined if it is not too long. */
  shorten(text: string, origin: DataOrigin | undefined): string | undefined {
    if (text.length <= this.#maxResult) return undefined;
    const id = `result-${++this.#count}`;
    const kept = text.slice(0, MAX_KEPT);
    this.#results.set(id, { origin, text: kept });
    return this.#part(id, kept, 0, this.#maxResult);
  }

  /** The tool that reads further parts. */
  get tool(): OwnTool {
    return {
      definition: {
        name: READ_RESULT,
        description: `Reads more of a tool result that was shortened: at most ${this.#maxResult} characters, from an offset.`,
        inputSchema: {
          type: "object",
          properties: {
            id: { type: "string", description: "The id in the shortened result." },
            offset: { type: "integer", minimum: 0, description: "The first character to read." },
            length: { type: "integer", minimum: 1, maximum: this.#maxResult },
          },
          required: ["id", "offset"],
          additionalProperties: false,
        },
      },
      isBounded: true,
      originOf: ({ id }) => this.#results.get(String(id))?.origin,
      run: ({ id, offset, length }) => this.#read(String(id), Number(offset), Number(length ?? this.#maxResult)),
    };
  }

  #read(id: string, offset: number, length: number): CallToolResult {
    const kept = this.#results.get(id);
    if (!kept) return textResult(`The result ${JSON.stringify(id)} is no longer kept. Call the tool again.`, true);
    if (offset >= kept.text.length) {
      return textResult(`The result ${id} has only ${kept.text.length} characters.`, true);
    }
    return textResult(this.#part(id, kept.text, offset, length));
  }

  #part(id: string, text: string, offset: number, length: number): string {
    const part = wholeCharacters(text, offset, length);
    const end = offset + part.length;
    if (end >= text.length) return part;
    const next = JSON.stringify({ id, offset: end });
    return `${part}\n[Shortened: characters ${offset} to ${end} of ${text.length}. Read more with ${READ_RESULT} ${next}.]`;
  }
}

function numbersIn(message: ModelMessage): number[] {
  const parts = message.role === "tool" ? message.content.flatMap(({ content }) => content) : [];
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
  return texts.flatMap((text) => [...text.matchAll(NAMED)].map(([, number]) => Number(number)));
}

/** A part of a text that does not end with half a character. */
function wholeCharacters(text: string, offset: number, length: number): string {
  const part = text.slice(offset, offset + length);
  return part.length > 1 ? part.replace(/[\uD800-\uDBFF]$/, "") : part;
}
