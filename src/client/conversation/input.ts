import { checkOptions, hasFunction, type OptionKind } from "../../errors/check-options.ts";
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

export const INPUT: OptionKind = {
  must: "an object with capabilities and a function handle",
  hintFor: (name) => `Write ${name}: { capabilities: { elicitation: { form: {} } }, handle: (request) => … }.`,
  accepts: (value) => hasFunction(value, "handle") && isRecord(value) && isRecord(value["capabilities"]),
};

const CAPABILITIES = {
  elicitation: true,
  sampling: true,
  roots: true,
  tasks: true,
  extensions: true,
  experimental: true,
};

/**
 * Throws if a program declares a capability that clients do not have: a server would never ask. Not for what a gateway
 * declares for its callers.
 */
export function checkCapabilities({ capabilities }: InputProvider): void {
  checkOptions("the capabilities of input", capabilities, CAPABILITIES, { elicit: "elicitation" });
}

export interface InputContext {
  /** The server that asks. */
  server: string;
  /** The call that the question belongs to; absent for a question outside a call. */
  call?: CallInfo;
  /** The key of the question in its round. */
  key: RequestId;
  /** Aborted when the answer is no longer needed. */
  signal: AbortSignal;
}

/** Answers roots from the server's entry itself, and passes other questions to the provider. */
export class InputDesk {
  /** The server that asks. */
  readonly server: string;
  readonly #provider: InputProvider | undefined;
  readonly #among: InputDesk | undefined;
  #roots: readonly Root[] | undefined;

  /** `among`: the desk whose roots are used until this one has its own. */
  constructor(
    server: string,
    provider: InputProvider | undefined,
    roots: readonly Root[] | undefined,
    among?: InputDesk,
  ) {
    this.server = server;
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

  /** A desk for one of several clients that share a connection; roots that it sets are its own. */
  shared(): InputDesk {
    return new InputDesk(this.server, this.#provider, undefined, this);
  }

  /** The capabilities for a call with this provider. Only legacy servers learn that roots can change. */
  capabilities(era: Era, provider = this.#provider): ClientCapabilities {
    const declared = provider?.capabilities ?? {};
    if (!this.roots || declared.roots) return declared;
    return { ...declared, roots: era === "legacy" ? { listChanged: true } : {} };
  }

  /** Whether the kind and mode of this question were declared. */
  declares(request: Question, provider = this.#provider): boolean {
    return this.needsNobody(request, provider) || isDeclared(request, provider?.capabilities ?? {});
  }

  /** Whether the answer needs no provider: configured roots, unless the provider has its own. */
  needsNobody({ method }: Question, provider = this.#provider): boolean {
    return method === "roots/list" && !provider?.capabilities.roots && this.roots !== undefined;
  }

  /**
   * Throws CAPABILITY_MISSING if the question was not declared, INPUT_FAILED if the provider fails or returns no
   * answer.
   */
  async answer(request: Question, context: Omit<InputContext, "server">, provider = this.#provider): Promise<Params> {
    if (this.roots && this.needsNobody(request, provider)) return { roots: this.roots };
    if (!provider || !this.declares(request, provider)) {
      throw new NexusError(
        "CAPABILITY_MISSING",
        `Server "${this.server}" sent ${request.method}, but the client did not declare this capability`,
        {
          hint: `Pass an "input" with this capability to connect().`,
        },
      );
    }
    try {
      const answer: unknown = await provider.handle(request as InputRequest, { ...context, server: this.server });
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

/** A client that declares `applyDefaults` must fill in the fields that the user left out. */
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
