import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Params, RequestId } from "../../protocol/json-rpc.ts";
import type { ClientCapabilities, InputRequest, InputResult, Question, Root } from "../../protocol/mcp.ts";
import { isDeclared } from "../../protocol/question-capabilities.ts";
import type { Era } from "../../protocol/revisions.ts";
import type { CallInfo } from "./call-scope.ts";

/** Answers the questions of a server: elicitation, sampling, roots. */
export interface InputProvider {
  /** Declared to the server unchanged. */
  capabilities: ClientCapabilities;
  /** Called once for each question. Throwing declines the question. */
  handle(request: InputRequest, context: InputContext): Promise<InputResult> | InputResult;
}

export interface InputContext {
  /** Who asks. */
  server: string;
  /** The call that the question belongs to; absent for a question outside a call. */
  call?: CallInfo;
  /** The key of the question in its round. */
  key: RequestId;
  /** Aborted when the answer is no longer needed. */
  signal: AbortSignal;
}

/** Roots from the server's entry are answered here; everything else is the provider's. */
export class InputDesk {
  readonly #server: string;
  readonly #provider: InputProvider | undefined;
  readonly #among: InputDesk | undefined;
  #roots: readonly Root[] | undefined;

  /** `among`: the desk whose roots hold until this one has its own. */
  constructor(
    server: string,
    provider: InputProvider | undefined,
    roots: readonly Root[] | undefined,
    among?: InputDesk,
  ) {
    this.#server = server;
    this.#provider = provider;
    this.#roots = roots;
    this.#among = among;
  }

  get roots(): readonly Root[] | undefined {
    return this.#roots ?? this.#among?.roots;
  }

  set roots(roots: readonly Root[] | undefined) {
    this.#roots = roots;
  }

  get hasOwnRoots(): boolean {
    return this.#roots !== undefined;
  }

  /** For one of several who share a connection: whatever roots they set are theirs alone. */
  shared(): InputDesk {
    return new InputDesk(this.#server, this.#provider, undefined, this);
  }

  /** What is declared to the server for a call with this provider. Only legacy servers are told that roots change. */
  capabilities(era: Era, provider = this.#provider): ClientCapabilities {
    const declared = provider?.capabilities ?? {};
    if (!this.roots || declared.roots) return declared;
    return { ...declared, roots: era === "legacy" ? { listChanged: true } : {} };
  }

  /** Whether such a question may be asked of this provider: its kind, and its mode, were declared. */
  declares(request: Question, provider = this.#provider): boolean {
    return this.needsNobody(request, provider) || isDeclared(request, provider?.capabilities ?? {});
  }

  /** Whether the answer is the same whoever is asked: roots as configured, unless the provider has its own. */
  needsNobody({ method }: Question, provider = this.#provider): boolean {
    return method === "roots/list" && !provider?.capabilities.roots && this.roots !== undefined;
  }

  /** CAPABILITY_MISSING for what was not declared; INPUT_FAILED for whatever the provider throws, or fails to answer. */
  async answer(request: Question, context: Omit<InputContext, "server">, provider = this.#provider): Promise<Params> {
    if (this.roots && this.needsNobody(request, provider)) return { roots: this.roots };
    if (!provider || !this.declares(request, provider)) {
      throw new NexusError(
        "CAPABILITY_MISSING",
        `Server "${this.#server}" sent ${request.method}, but the client did not declare this capability`,
        {
          hint: `Pass an "input" with this capability to connect().`,
        },
      );
    }
    try {
      const answer: unknown = await provider.handle(request as InputRequest, { ...context, server: this.#server });
      if (!isRecord(answer))
        throw new Error(`handle() returned ${answer === null ? "null" : typeof answer}, not an object`);
      return request.method === "elicitation/create" ? withDefaults(request, answer, provider.capabilities) : answer;
    } catch (cause) {
      if (cause instanceof NexusError) throw cause;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new NexusError("INPUT_FAILED", `${request.method} was not answered: ${reason}`, { cause });
    }
  }
}

/** A client that declared `applyDefaults` promised to fill in what the user left out. */
function withDefaults(request: Question, answer: Params, { elicitation }: ClientCapabilities): Params {
  if (answer["action"] !== "accept" || !(elicitation?.form?.applyDefaults ?? elicitation?.applyDefaults)) return answer;
  const schema = request.params?.["requestedSchema"];
  if (!isRecord(schema) || !isRecord(schema["properties"])) return answer;
  const content: Params = isRecord(answer["content"]) ? { ...answer["content"] } : {};
  for (const [name, property] of Object.entries(schema["properties"])) {
    const isMissing = !Object.hasOwn(content, name) || content[name] === undefined;
    if (isMissing && isRecord(property) && "default" in property) content[name] = property["default"];
  }
  return { ...answer, content };
}
