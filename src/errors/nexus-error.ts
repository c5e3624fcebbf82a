/** What went wrong, for programs. Every edge maps each of these to its own exit code or status. */
export type ErrorCode =
  | "CONFIG_INVALID"
  | "ARGUMENTS_INVALID"
  | "COMMAND_NOT_FOUND"
  | "PERMISSION_DENIED"
  | "SERVER_EXITED"
  | "CONNECTION_FAILED"
  | "CONNECTION_LOST"
  | "AUTH_REQUIRED"
  | "FORBIDDEN"
  | "HTTP_STATUS"
  | "ADDRESS_REFUSED"
  | "REDIRECT_REFUSED"
  | "NOT_MCP"
  | "PROTOCOL_VIOLATION"
  | "VERSION_UNSUPPORTED"
  | "MESSAGE_TOO_LARGE"
  | "CAPABILITY_MISSING"
  | "NAME_UNKNOWN"
  | "DENIED"
  | "UNTRUSTED"
  | "SERVER_ERROR"
  | "INPUT_FAILED"
  | "TIMEOUT"
  | "CANCELLED"
  | "CLOSED"
  | "INTERNAL";

/** Where in the life of a connection it happened. */
export type ErrorPhase = "config" | "start" | "connect" | "handshake" | "request" | "close";

/** A JSON-RPC error object, exactly as the server sent it. */
export interface RpcErrorBody {
  code: number;
  message: string;
  data?: unknown;
}

/** The place in a configuration file that an error is about. */
export interface ErrorSource {
  file: string;
  line?: number | undefined;
  column?: number | undefined;
  /** Which of the layered configuration files it is: "user", "project" … */
  layer?: string | undefined;
}

/** A question of a server that waits for its answer: a form with its schema, or a page to visit. */
export interface OpenQuestion {
  key: string;
  message: string;
  schema?: unknown;
  url?: string | undefined;
}

export interface ErrorDetails {
  cause?: unknown;
  /** What probably lies behind it, for people: a guess, made from what the server wrote or how it answered. */
  likelyCause?: string | undefined;
  /** What to do about it, for people. */
  hint?: string | undefined;
  /** How to write it instead: a few lines of configuration. */
  snippet?: string | undefined;
  phase?: ErrorPhase | undefined;
  server?: string | undefined;
  source?: ErrorSource | undefined;
  /** The lines of the file around the mistake, with a caret under it. */
  excerpt?: string | undefined;
  command?: string | undefined;
  url?: string | undefined;
  method?: string | undefined;
  exitCode?: number | undefined;
  signal?: string | undefined;
  /** The last lines the server wrote to stderr. */
  stderr?: readonly string[] | undefined;
  /** HTTP status of the answer, where there was one. */
  status?: number | undefined;
  /** Of an HTTP status that is an error: what the answer says, shortened, without what looks secret. */
  answer?: string | undefined;
  /** Of an answer 401 or 403: which credentials the server wants, as it said it. */
  wwwAuthenticate?: string | undefined;
  /** The proxy on the way, without its password. */
  proxy?: string | undefined;
  /** Of a handshake that came to nothing: the methods that were sent. */
  sent?: readonly string[] | undefined;
  /** Of a handshake that came to nothing: what arrived meanwhile, in words. */
  received?: string | undefined;
  retryAfterMs?: number | undefined;
  /** The server's own error. */
  rpc?: RpcErrorBody | undefined;
  /** What the server asks, where nobody was there to answer; `continue` names the call that waits. */
  input?: { continue?: string | undefined; questions: readonly OpenQuestion[] } | undefined;
  /** What the server sent, where it could not be used. */
  raw?: unknown;
  /** Under which the log of a gateway tells what its caller is not told. */
  correlationId?: string | undefined;
  /** False: the request certainly never left. True: the server may have acted on it. */
  mayHaveReached?: boolean | undefined;
}

/** The one error of Nexus: programs branch on `code`, people read `message`, then `details.hint`. */
export class NexusError extends Error {
  override readonly name = "NexusError";
  readonly code: ErrorCode;
  readonly details: Readonly<ErrorDetails>;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.details = details;
  }

  get hint(): string | undefined {
    return this.details.hint;
  }

  /** The same failure with more known about it; what was known already wins. */
  with(more: ErrorDetails): NexusError {
    return this.#copy({ ...more, ...known(this.details) });
  }

  /** The same failure, known better: what is given now wins. */
  amended(better: ErrorDetails): NexusError {
    return this.#copy({ ...this.details, ...known(better) });
  }

  #copy(details: ErrorDetails): NexusError {
    const error = new NexusError(this.code, this.message, details);
    if (this.stack) error.stack = this.stack;
    return error;
  }
}

function known(details: ErrorDetails): ErrorDetails {
  return Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined));
}

/** Anything thrown, as an Error: for the message of something that was not ours. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Anything thrown, as the one error: what is not ours is a bug of ours. */
export function asNexusError(thrown: unknown): NexusError {
  return thrown instanceof NexusError ? thrown : new NexusError("INTERNAL", messageOf(thrown), { cause: thrown });
}
