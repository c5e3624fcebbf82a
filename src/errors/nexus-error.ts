/** The kind of error, for programs. Each edge maps every code to its own exit code or status. */
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
  | "DEFINITION_CHANGED"
  | "UNTRUSTED"
  | "SERVER_ERROR"
  | "INPUT_FAILED"
  | "TIMEOUT"
  | "BUSY"
  | "RATE_LIMITED"
  | "CANCELLED"
  | "CLOSED"
  | "STORE_UNAVAILABLE"
  | "DATA_DAMAGED"
  | "INTERNAL";

/** The phase of the connection in which the error happened. */
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
  /** The layer of the configuration file: "user", "project", … */
  layer?: string | undefined;
}

/** An unanswered question of a server: a form with its schema, or a page to open. */
export interface OpenQuestion {
  key: string;
  message: string;
  schema?: unknown;
  url?: string | undefined;
}

export interface ErrorDetails {
  cause?: unknown;
  /** The likely cause, for people: a guess from the server's output or answer. */
  likelyCause?: string | undefined;
  /** How to fix it, for people. */
  hint?: string | undefined;
  /** An example of the corrected configuration. */
  snippet?: string | undefined;
  phase?: ErrorPhase | undefined;
  server?: string | undefined;
  source?: ErrorSource | undefined;
  /** The lines of the file around the error, with a caret under it. */
  excerpt?: string | undefined;
  command?: string | undefined;
  url?: string | undefined;
  method?: string | undefined;
  exitCode?: number | undefined;
  signal?: string | undefined;
  /** The last lines the server wrote to stderr. */
  stderr?: readonly string[] | undefined;
  /** HTTP status of the answer, if there was one. */
  status?: number | undefined;
  /** For an HTTP error: the shortened body of the answer, with secrets masked. */
  answer?: string | undefined;
  /** For HTTP 401 or 403: the server's `WWW-Authenticate` header. */
  wwwAuthenticate?: string | undefined;
  /** The proxy that was used, without its password. */
  proxy?: string | undefined;
  /** For a failed handshake: the methods that were sent. */
  sent?: readonly string[] | undefined;
  /** For a failed handshake: a description of what was received. */
  received?: string | undefined;
  retryAfterMs?: number | undefined;
  /** The JSON-RPC error of the server. */
  rpc?: RpcErrorBody | undefined;
  /** The server's unanswered questions; `continue` is the id of the parked call. */
  input?: { continue?: string | undefined; questions: readonly OpenQuestion[] } | undefined;
  /** The answer of the server if it could not be used. */
  raw?: unknown;
  /** The id of the entry in the gateway's log that has the details. */
  correlationId?: string | undefined;
  /** For an operation: how HTTP tells it apart from other invalid requests. */
  refusal?: "CONFLICT" | "PRECONDITION_FAILED" | "IDEMPOTENCY_KEY_REUSED" | undefined;
  /** For an operation: what is not valid in the request, by places such as `body/allow/0`. */
  invalid?: readonly { at: string; message: string; hint?: string }[] | undefined;
  /** False: the request was not sent. True: the server may have executed it. */
  mayHaveReached?: boolean | undefined;
}

/** The only error class of Nexus: programs branch on `code`, people read `message` and `details.hint`. */
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

  /** What `JSON.stringify` writes: also the message, which the fields of an error leave out. */
  toJSON(): { name: string; code: ErrorCode; message: string; details: Omit<ErrorDetails, "cause"> } {
    const { cause: _cause, ...details } = this.details;
    return { name: this.name, code: this.code, message: this.message, details };
  }

  /** The same error with additional details; existing details win. */
  with(more: ErrorDetails): NexusError {
    return this.#copy({ ...more, ...known(this.details) });
  }

  /** The same error with better details; the new details win. */
  amended(better: ErrorDetails): NexusError {
    return this.#copy({ ...this.details, ...known(better) });
  }

  #copy(details: ErrorDetails): NexusError {
    const error = new NexusError(this.code, this.message, details);
    // To write a stack as text takes a millisecond, and few stacks are read.
    Object.defineProperty(error, "stack", { get: () => this.stack, set: () => {}, configurable: true });
    return error;
  }
}

function known(details: ErrorDetails): ErrorDetails {
  return Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined));
}

/** Of the errors that one is made of. */
const MOST_JOINED = 5;

/** The message of anything that was thrown. Never throws, whatever that is: it is called where failures are handled. */
export function messageOf(thrown: unknown): string {
  try {
    // Some libraries throw records.
    const { message } = Object(thrown) as { message?: unknown };
    if (typeof message === "string" && message !== "") return message;
    // A connection that was tried at several addresses fails with one, and it has no message of its own.
    if (thrown instanceof AggregateError) return thrown.errors.slice(0, MOST_JOINED).map(messageOf).join("; ");
    return thrown instanceof Error ? thrown.name : String(thrown);
  } catch {
    // An object without `toString`, or one whose getter throws.
    return "unknown error";
  }
}

/** Anything that was thrown, as a NexusError; an unknown error is a bug of ours. */
export function asNexusError(thrown: unknown): NexusError {
  return thrown instanceof NexusError ? thrown : new NexusError("INTERNAL", messageOf(thrown), { cause: thrown });
}
