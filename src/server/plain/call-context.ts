import type { Message, Request, Result, SuccessResponse } from "../../protocol/json-rpc.ts";
import type { ClientCapabilities, Question, LogLevel, Progress } from "../../protocol/mcp.ts";
import type { Era } from "../../protocol/revisions.ts";

/** Where the answer to one request goes, together with all that belongs to it: its stream. */
export interface Exchange {
  send(message: Message): void;
  /** Aborted when the client left, where leaving means cancelling (2026-07-28 over HTTP). */
  readonly signal?: AbortSignal;
}

export type InputRequests = Record<string, Question>;
export type InputAnswers = Record<string, Record<string, unknown>>;

interface AskOptions {
  /** Send a `requestState` even where no earlier answers need one, and accept no answer to a question that it does not name. */
  sealed?: boolean;
}

/** What the code behind a tool, prompt or resource knows of the request it works on. It reads the same in both eras. */
export interface CallContext {
  readonly era: Era;
  readonly revision: string;
  /** What the client declared: with this request (modern) or at `initialize` (legacy). */
  readonly client: ClientCapabilities;
  readonly request: Request;
  readonly exchange: Exchange;
  readonly signal: AbortSignal;
  /**
   * Asks the client. A legacy client gets real requests while the call waits. A modern one gets `input_required`
   * and calls again, so everything before `ask` runs once more for each round: ask first, act afterwards.
   */
  ask: (requests: InputRequests, options?: AskOptions) => Promise<InputAnswers>;
  /** Legacy only: asks on the session's own stream, as a server does that has something to ask outside any call. */
  askOutside?: (requests: InputRequests) => Promise<InputAnswers>;
  /** Sent only if the client gave a token. */
  progress: (progress: Progress) => void;
  /** Sent only at the level that the client wants. */
  log: (level: LogLevel, data: unknown, logger?: string) => void;
  /** The answer to this request, as its era writes it. */
  response: (result: Result) => SuccessResponse;
}
