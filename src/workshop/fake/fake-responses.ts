import { evaluate } from "../expression/evaluate.ts";
import { fillTemplate } from "../expression/fill.ts";
import { isTrue } from "../expression/arithmetic.ts";
import { parseExpression } from "../expression/parse.ts";
import type { Scope } from "../expression/expression.ts";
import type { FakeAnswer, ToolFile } from "../file/model/tool-file.ts";
import { madeUp, madeUpValue } from "../check/made-up.ts";
import { TypeHeights } from "../check/type-heights.ts";

/** An answer before it is encoded. */
export interface UnencodedResponse {
  status: number;
  /**
   * A value of the response's type; a text if it has none. Of a text or binary answer with fields in headers, `content`
   * is the answer itself.
   */
  value: unknown;
}

/** Answers requests as the file describes, and remembers values for `seen`. */
export class FakeResponses {
  readonly #file: ToolFile;
  readonly #heights: TypeHeights;
  readonly #seen = new Set<string>();

  constructor(file: ToolFile) {
    this.#file = file;
    this.#heights = new TypeHeights(file);
  }

  /** Forgets the values for `seen`. */
  forget(): void {
    this.#seen.clear();
  }

  /** The answer to wrong or missing credentials. */
  refused(tool: string, input: Record<string, unknown>): UnencodedResponse {
    const refused = this.#file.fake.tools[tool]?.refused;
    return refused ? this.#given(refused, input) : { status: 401, value: "The credentials are wrong or missing." };
  }

  /** The answer to a request that breaks a rule. */
  invalid(tool: string, input: Record<string, unknown>, problem: string): UnencodedResponse {
    const invalid = this.#file.fake.tools[tool]?.invalid;
    return invalid ? this.#given(invalid, input, problem) : { status: 400, value: problem };
  }

  to(tool: string, input: Record<string, unknown>): UnencodedResponse {
    const scope = this.#scope(input);
    const answers = this.#file.fake.tools[tool]?.answers ?? [];
    const found = answers.find(({ when }) => when === undefined || isTrue(evaluate(parseExpression(when), scope)));
    if (!found) return this.#madeUp(tool, input);
    const answer = this.#given(found, input);
    if (found.remember !== undefined) this.#seen.add(keyOf(evaluate(parseExpression(found.remember), scope)));
    return answer;
  }

  #given({ status, give }: FakeAnswer, input: Record<string, unknown>, problem?: string): UnencodedResponse {
    return { status, value: fillTemplate(give, this.#scope(input, problem)) };
  }

  #scope(input: Record<string, unknown>, problem?: string): Scope {
    return {
      ...this.#file.fake.tables,
      input,
      ...(problem === undefined ? {} : { problem }),
      seen: (value: unknown) => this.#seen.has(keyOf(value)),
    };
  }

  #madeUp(tool: string, input: Record<string, unknown>): UnencodedResponse {
    const { response, paging, request } = this.#file.tools[tool] ?? {};
    const text = `${tool} was called.`;
    const content =
      response?.as === "binary"
        ? `data:${mediaTypeOf(request?.accept)};base64,${Buffer.from(text).toString("base64")}`
        : text;
    if (response?.type === undefined) {
      return response?.as === "none" ? { status: 204, value: {} } : { status: 200, value: content };
    }
    const value = madeUp(this.#file, response.type, { input, heights: this.#heights });
    // Made-up values name a next page for ever: the first page is the only one.
    if (paging?.next.kind === "cursor" && !paging.next.from.includes(".")) delete value[paging.next.from];
    for (const field of Object.values(response.headers ?? {})) {
      const shape = this.#file.types[response.type]?.fields[field]?.shape;
      const inner = shape?.kind === "list" ? shape.of : shape;
      if (value[field] === undefined && inner?.kind === "scalar") value[field] = madeUpValue(inner, input[field]);
    }
    const isDocument = response.as === "xml" || response.as === "json" || response.as === "auto";
    return { status: 200, value: isDocument || response.as === "none" ? value : { ...value, content } };
  }
}

/** The one type that the request asks for; bytes of another kind than text are not made up. */
function mediaTypeOf(accept: string | undefined): string {
  return accept !== undefined && /^[a-z]+\/[a-z0-9.+-]+$/i.test(accept) ? accept : "text/plain";
}

function keyOf(value: unknown): string {
  return JSON.stringify(value ?? null);
}
