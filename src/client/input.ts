import { NexusError } from "../errors/nexus-error.ts";
import { isRecord, type Params, type RequestId } from "../protocol/json-rpc.ts";
import type { ClientCapabilities, InputRequest, Root } from "../protocol/mcp.ts";
import type { CallInfo } from "./call-scope.ts";

/** Answers what a server asks of the user or the user's model: elicitation, sampling, roots. */
export interface InputProvider {
  /** Declared to the server exactly as given. */
  capabilities: ClientCapabilities;
  /** One request at a time, each with its own invocation. Throwing refuses the question. */
  handle(request: InputRequest, context: InputContext): Promise<Params> | Params;
}

export interface InputContext {
  /** Who asks. */
  server: string;
  /** The call the question belongs to; absent for one that came outside any call. */
  call?: CallInfo;
  /** Names the question within its round. */
  key: RequestId;
  /** Fires when the answer is no longer wanted. */
  signal: AbortSignal;
}

/** Which capability makes a client answer which request. */
const CAPABILITY: Record<string, keyof ClientCapabilities> = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
};

export function isInputMethod(method: string): boolean {
  return Object.hasOwn(CAPABILITY, method);
}

/** Roots from the server's entry are answered here; everything else is the provider's. */
export class InputDesk {
  readonly #server: string;
  readonly #provider: InputProvider | undefined;
  #roots: readonly Root[] | undefined;

  constructor(server: string, provider: InputProvider | undefined, roots: readonly Root[] | undefined) {
    this.#server = server;
    this.#provider = provider;
    this.#roots = roots;
  }

  set roots(roots: readonly Root[]) {
    this.#roots = roots;
  }

  /** What is declared to the server for a call with this provider. */
  capabilities(provider = this.#provider): ClientCapabilities {
    const declared = provider?.capabilities ?? {};
    return this.#roots && !declared.roots ? { ...declared, roots: {} } : declared;
  }

  /** Throws METHOD_NOT_FOUND-worthy errors as CAPABILITY_MISSING; whatever the provider throws as INPUT_FAILED. */
  async answer(
    request: InputRequest,
    context: Omit<InputContext, "server">,
    provider = this.#provider,
  ): Promise<Params> {
    const capability = CAPABILITY[request.method];
    const declared = capability === undefined ? undefined : provider?.capabilities[capability];
    if (capability === "roots" && declared === undefined && this.#roots) return { roots: this.#roots };
    if (declared === undefined || !provider) {
      throw new NexusError(
        "CAPABILITY_MISSING",
        `Server "${this.#server}" asked for ${request.method}, which was not declared`,
        {
          hint: `Give connect() an "input" whose capabilities include it.`,
        },
      );
    }
    try {
      const answer = await provider.handle(request, { ...context, server: this.#server });
      return request.method === "elicitation/create" ? withDefaults(request, answer, provider.capabilities) : answer;
    } catch (cause) {
      if (cause instanceof NexusError) throw cause;
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new NexusError("INPUT_FAILED", `${request.method} was not answered: ${reason}`, { cause });
    }
  }
}

/** A client that declared `applyDefaults` promised to fill in what the user left out. */
function withDefaults(request: InputRequest, answer: Params, { elicitation }: ClientCapabilities): Params {
  if (answer["action"] !== "accept" || !(elicitation?.form?.applyDefaults ?? elicitation?.applyDefaults)) return answer;
  const schema = request.params?.["requestedSchema"];
  if (!isRecord(schema) || !isRecord(schema["properties"])) return answer;
  const content: Params = isRecord(answer["content"]) ? { ...answer["content"] } : {};
  for (const [name, property] of Object.entries(schema["properties"])) {
    if (content[name] === undefined && isRecord(property) && "default" in property) content[name] = property["default"];
  }
  return { ...answer, content };
}
