import { isRecord } from "../../json/is-record.ts";
import { INVALID_PARAMS, METHOD_NOT_FOUND, type Params, type Request, type Result } from "../../protocol/json-rpc.ts";
import type { ClientCapabilities } from "../../protocol/mcp.ts";
import { capabilityNames } from "../../protocol/capability-names.ts";
import { META, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_VERSION } from "../../protocol/meta.ts";
import { isModernRevision, type ModernRevision } from "../../protocol/revisions.ts";
import type { CallContext, Exchange, InputAnswers } from "./call-context.ts";
import { asRpcError } from "./feature-methods.ts";
import { InputNeeded, missingCapabilities } from "./input-needed.ts";
import type { McpServer } from "./mcp-server.ts";
import { isLogLevel, logSender, progressSender } from "./notices.ts";
import { RpcError } from "./rpc-error.ts";
import { listen } from "./subscriptions.ts";

const CACHEABLE = new Set([
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
]);
/** The methods whose answer may be `input_required`. */
const INTERACTIVE = new Set(["tools/call", "prompts/get", "resources/read"]);

/** The version a message claims for itself; any claim at all makes it modern. */
export function claimedVersion(params: Params | undefined): unknown {
  const meta = params?.["_meta"];
  return isRecord(meta) ? meta[META.protocolVersion] : undefined;
}

/** Answers one modern request. Nothing is remembered: all it needs comes with it. */
export async function answerModern(server: McpServer, request: Request, exchange: Exchange): Promise<void> {
  const { id } = request;
  const signal = exchange.signal ?? new AbortController().signal;
  try {
    const context = modernContext(server, request, { exchange, signal });
    const result = await resultOf(server, context);
    if (!signal.aborted) exchange.send(context.response(result));
  } catch (error) {
    // A cancelled request gets no answer.
    if (!signal.aborted) exchange.send({ jsonrpc: "2.0", id, error: asRpcError(error).toObject() });
  }
}

/** The version and capabilities of a modern request, or the error that it deserves. */
export function checkModernMeta(
  server: McpServer,
  request: Request,
): { revision: ModernRevision; client: ClientCapabilities } {
  const meta = request.params?.["_meta"];
  // A legacy client says its version elsewhere; it is told which ones are served, like any other.
  const legacy = request.method === "initialize" ? request.params?.["protocolVersion"] : undefined;
  const requested = claimedVersion(request.params) ?? legacy;
  if (typeof requested !== "string") {
    throw new RpcError(INVALID_PARAMS, `"_meta" must have "${META.protocolVersion}".`);
  }
  if (!isModernRevision(requested) || !server.revisions.includes(requested)) {
    const data = { supported: server.modernRevisions, requested };
    throw new RpcError(UNSUPPORTED_VERSION, `Unsupported protocol version: ${requested}`, data);
  }
  const client = isRecord(meta) ? meta[META.clientCapabilities] : undefined;
  if (!isRecord(client)) throw new RpcError(INVALID_PARAMS, `"_meta" must have "${META.clientCapabilities}".`);
  return { revision: requested, client };
}

async function resultOf(server: McpServer, context: CallContext): Promise<Result> {
  switch (context.request.method) {
    case "server/discover":
      return discovery(server, context.revision);
    case "subscriptions/listen":
      return listen(server, context);
    default:
      try {
        return await server.methods.answer(context);
      } catch (error) {
        if (!(error instanceof InputNeeded)) throw error;
        const { requests: inputRequests, requestState } = error;
        return { resultType: "input_required", inputRequests, ...(requestState === undefined ? {} : { requestState }) };
      }
  }
}

function discovery(server: McpServer, revision: string): Result {
  return {
    supportedVersions: server.modernRevisions,
    capabilities: server.capabilities(revision),
    ...(server.instructions === undefined ? {} : { instructions: server.instructions }),
  };
}

interface Surroundings {
  exchange: Exchange;
  signal: AbortSignal;
}

function modernContext(server: McpServer, request: Request, { exchange, signal }: Surroundings): CallContext {
  const { revision, client } = checkModernMeta(server, request);
  const params = request.params ?? {};
  const level = (params["_meta"] as Params)[META.logLevel];
  const { method } = request;
  const state = params["requestState"];
  const before = state === undefined ? undefined : server.requestStates.open(state, { method, params });
  const given = inputResponses(params);

  return {
    era: "modern",
    revision,
    client,
    request,
    exchange,
    signal,
    progress: progressSender(request, exchange),
    log: logSender(isLogLevel(level) ? level : undefined, exchange),
    async ask(requests, { sealed = false } = {}) {
      const required = missingCapabilities(requests, client);
      if (required) {
        throw new RpcError(MISSING_CLIENT_CAPABILITY, `The client lacks a capability: ${capabilityNames(required)}.`, {
          requiredCapabilities: required,
        });
      }
      // Answers that came without the state they were asked with do not count, nor do answers to what nobody asked.
      const counting = sealed ? only(given, before?.asked ?? []) : given;
      const answers = { ...before?.answers, ...counting };
      const open = Object.entries(requests).filter(([key]) => answers[key] === undefined);
      if (open.length === 0) return answers;
      if (!INTERACTIVE.has(method)) throw new RpcError(METHOD_NOT_FOUND, `${method} may not ask for input.`);
      const asked = open.map(([key]) => key);
      const needsState = sealed || Object.keys(answers).length > 0;
      const requestState = needsState ? server.requestStates.seal({ answers, asked }, { method, params }) : undefined;
      throw new InputNeeded(Object.fromEntries(open), requestState);
    },
    response: (result) => ({ jsonrpc: "2.0", id: request.id, result: complete(server, method, result) }),
  };
}

/** The answers that came with the request; a shape that is none of them is the client's mistake. */
function inputResponses(params: Params): InputAnswers {
  const given = params["inputResponses"];
  if (given === undefined) return {};
  if (!isRecord(given) || !Object.values(given).every(isRecord)) {
    throw new RpcError(INVALID_PARAMS, `"inputResponses" must be an object of objects.`);
  }
  return given as InputAnswers;
}

function only(answers: InputAnswers, keys: readonly string[]): InputAnswers {
  return Object.fromEntries(Object.entries(answers).filter(([key]) => keys.includes(key)));
}

function complete(server: McpServer, method: string, result: Result): Result {
  const resultType = result.resultType ?? "complete";
  // Before the spread, which keeps these objects alike; and again, because whoever made the result may have named another.
  const meta = { [META.serverInfo]: server.info, ...result._meta };
  meta[META.serverInfo] = server.info;
  return {
    ...(CACHEABLE.has(method) && resultType === "complete" ? { ttlMs: server.ttlMs, cacheScope: "public" } : {}),
    ...result,
    resultType,
    _meta: meta,
  };
}
