import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { checkOptions, type OptionNames } from "../../errors/check-options.ts";
import { callListener } from "../../async/call-listener.ts";
import { safeLogger, type Logger } from "../../text/logger.ts";
import { isRecord } from "../../json/is-record.ts";
import {
  INTERNAL_ERROR,
  INVALID_REQUEST,
  isNotification,
  isRequest,
  isRequestId,
  isResponse,
  PARSE_ERROR,
  type ErrorResponse,
  type Message,
  type RequestId,
} from "../../protocol/json-rpc.ts";
import { LineReader } from "../../protocol/line-reader.ts";
import { OversizeOutline } from "../../protocol/oversize-outline.ts";
import { ByteBudget, NO_ROOM, type ByteClaim } from "../core/byte-budget.ts";
import type { Core, Servable } from "../core/core.ts";
import { servedCore } from "../core/served-core.ts";
import { SERVER_LIMITS, type JsonBodyLimits, type ServerLimits } from "../core/limits.ts";
import {
  jsonRefusal,
  messageProblem,
  receivedBatch,
  receivedMessage,
  type JsonRefusal,
} from "../core/received-message.ts";
import { ANYBODY, principalKey, type Principal } from "../core/principal.ts";
import { STDERR_LOGGER } from "../core/stderr-logger.ts";
import { jsonText } from "../core/receipt.ts";
import { BatchAnswers, NO_BATCHES } from "../legacy/batch-answers.ts";
import { DuplexConversation } from "../legacy/duplex-conversation.ts";
import { SharedChannel } from "../legacy/request-channel.ts";

export interface ServeStdioOptions {
  /** Who calls; default: one anonymous caller. */
  principal?: Principal | undefined;
  /** Default: stdin. */
  input?: Readable | undefined;
  /** Default: stdout. */
  output?: Writable | undefined;
  /** Ends it at once; what is in flight gets no answer. */
  signal?: AbortSignal | undefined;
  /** Ends it as soon as everything is answered, or `drainMs` later; at once if the input has ended already. */
  drain?: AbortSignal | undefined;
  /** Hears what failed where the client is not told the reason; default: one line on stderr. */
  logger?: Logger | undefined;
  maxLineBytes?: number | undefined;
  limits?: StdioLimits | undefined;
  /** Where long messages and unread answers are counted. */
  budget?: ByteBudget | undefined;
  /** How long what is in flight may go on after the input has ended, or `drain` was aborted. */
  drainMs?: number | undefined;
  /** How long a client has to answer a question; ten minutes. */
  answerMs?: number | undefined;
}

const OPTIONS: OptionNames<ServeStdioOptions> = {
  principal: true,
  input: true,
  output: true,
  signal: true,
  drain: true,
  logger: true,
  maxLineBytes: true,
  limits: true,
  budget: true,
  drainMs: true,
  answerMs: true,
};

type StdioLimits = BatchLimits & JsonBodyLimits;

const MAX_LINE_BYTES = 16 * 1024 * 1024;
const DRAIN_MS = 10_000;
const FLUSH_MS = 1000;
/** What is no longer is not counted. */
const SMALL_LENGTH = 16 * 1024;
/** Beyond this a client that does not read is told nothing but answers. */
const MAX_UNREAD_BYTES = 8 * 1024 * 1024;

/** Serves one client of either era on a pair of pipes, until its end or the signal. */
export function serveStdio(server: Servable, options: ServeStdioOptions = {}): Promise<void> {
  const core = servedCore("serveStdio", server);
  checkOptions("serveStdio", options, OPTIONS);
  const { input = process.stdin, output = process.stdout, principal = ANYBODY, signal = NEVER, ...others } = options;
  return new StdioServer({ core, principal, input, output, signal, ...others }).serve();
}

const NEVER = new AbortController().signal;

type PipeOptions = ServeStdioOptions & { core: Core } & {
  [Option in "principal" | "input" | "output" | "signal"]: NonNullable<ServeStdioOptions[Option]>;
};

class StdioServer {
  readonly #options: PipeOptions;
  readonly #limits: StdioLimits;
  readonly #logger: Logger;
  readonly #budget: ByteBudget;
  /** What the client has not read. */
  readonly #unread: ByteClaim;
  readonly #conversation: DuplexConversation;
  #isOver = false;

  constructor(options: PipeOptions) {
    const { core, principal, answerMs } = options;
    const logger = safeLogger(options.logger ?? STDERR_LOGGER);
    this.#options = options;
    this.#limits = options.limits ?? SERVER_LIMITS;
    this.#logger = logger;
    this.#budget = options.budget ?? new ByteBudget(SERVER_LIMITS);
    const measure = () => options.output.writableLength;
    this.#unread = this.#budget.claim(principalKey(principal), { measure });
    const outside = (notification: Message) => void this.#write(notification);
    this.#conversation = new DuplexConversation({ core, principal, answerMs, logger, outside });
  }

  async serve(): Promise<void> {
    const { input, output, signal, drain = NEVER, drainMs = DRAIN_MS } = this.#options;
    // The client may be gone before the last answer is written; that is its right.
    output.on("error", () => {});
    const gone = new AbortController();
    const over = AbortSignal.any([signal, gone.signal]);
    output.once("close", () => gone.abort());
    const drained = new AbortController();
    const beginDrain = () => void this.#quiet(drainMs, over).then(() => drained.abort());
    if (drain.aborted) beginDrain();
    else drain.addEventListener("abort", beginDrain, { once: true });
    await this.#read(input, AbortSignal.any([over, drained.signal]));
    drain.removeEventListener("abort", beginDrain);
    this.#conversation.stopListening();
    // A client that has nothing more to say, and then wants an end, does not wait for answers.
    const enough = AbortSignal.any([over, drain.aborted ? drained.signal : drain]);
    if (!enough.aborted) await this.#quiet(drainMs, enough);
    this.#isOver = true;
    await this.#conversation.close();
    if (!output.destroyed && !output.writableEnded && output.writableLength > 0) await flushed(output);
  }

  /** Resolves when the input has ended, for whatever reason. */
  async #read(input: Readable, over: AbortSignal): Promise<void> {
    const reader = new LineReader(this.#options.maxLineBytes ?? MAX_LINE_BYTES, {
      // What one line causes must not end the process.
      line: (text) => callListener(() => this.#receiveLine(text), this.#logger),
      tooLong: (bytes, _answered, asked) =>
        this.#refuse(asked, INVALID_REQUEST, `A message of ${bytes} bytes is too long`),
    });
    const take = (chunk: Buffer | string) => reader.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk);
    input.on("data", take);
    if (!over.aborted && !input.readableEnded && !input.destroyed) {
      await Promise.race([once(input, "end", { signal: over }), once(input, "close", { signal: over })]).catch(
        () => {},
      );
    }
    input.off("data", take);
    input.pause();
    // The last line counts without its newline, too.
    if (!over.aborted) reader.push(Buffer.from("\n"));
  }

  #receiveLine(line: string): void {
    const refused = jsonRefusal(line, "The message", this.#limits);
    if (refused) return this.#refuseUnparsed(line, refused);
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      if (line.trim() !== "") this.#refuse(undefined, PARSE_ERROR, "This line is not valid JSON");
      return;
    }
    const held = this.#hold(line.length);
    const id = isRecord(value) && isRequestId(value["id"]) ? value["id"] : undefined;
    if (!held) return this.#refuse(id, INTERNAL_ERROR, NO_ROOM);
    if (Array.isArray(value)) return this.#receiveBatch(value, held);
    const message = receivedMessage(value);
    if (!message) this.#refuse(id, INVALID_REQUEST, messageProblem(value));
    else this.#conversation.receive(message, () => new SharedChannel((each, text) => this.#write(each, text), held));
    if (!message || !isRequest(message)) held.onDone?.();
  }

  /** Counts a long line until it is answered; undefined where there is no room for it. */
  #hold(length: number): { onDone?: () => void } | undefined {
    if (length <= SMALL_LENGTH) return {};
    const claim = this.#claim();
    return claim.resize(length) ? { onDone: () => claim.release() } : undefined;
  }

  #claim(): ByteClaim {
    return this.#budget.claim(principalKey(this.#options.principal));
  }

  #receiveBatch(items: readonly unknown[], { onDone }: { onDone?: () => void }): void {
    const refuse = (problem: string) => {
      this.#refuse(undefined, INVALID_REQUEST, problem);
      onDone?.();
    };
    if (!this.#conversation.takesBatches) return refuse(NO_BATCHES);
    const { batchMessages, batchBytes } = this.#limits;
    const messages = receivedBatch(items, batchMessages);
    if (!Array.isArray(messages)) return refuse(messages.problem);
    const requests = messages.filter(isRequest).length;
    const batch = { answers: new BatchAnswers(batchBytes, this.#claim()), requests };
    const channel = new SharedChannel((each, text) => this.#write(each, text), { batch, onDone });
    if (requests === 0) onDone?.();
    for (const message of messages) this.#conversation.receive(message, () => channel);
  }

  /** What is not read at once has to be held. */
  #hasRoomFor(text: string): boolean {
    const length = this.#options.output.writableLength + text.length;
    return length <= SMALL_LENGTH || this.#unread.resize(length);
  }

  /** Resolves when everything is answered, or the time is over. */
  async #quiet(drainMs: number, over: AbortSignal): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, drainMs);
      over.addEventListener("abort", () => resolve(), { once: true });
    });
    await Promise.race([this.#conversation.quiet(), enough]);
    clearTimeout(timer);
  }

  #refuse(id: RequestId | undefined, code: number, message: string): void {
    this.#write(refusal(id, code, message));
  }

  /** With the id of the request, because its client waits for that. */
  #refuseUnparsed(line: string, { message, data }: JsonRefusal): void {
    const { error, ...rest } = refusal(OversizeOutline.of(line).asked, INVALID_REQUEST, message);
    this.#write({ ...rest, error: { ...error, ...(data && { data }) } });
  }

  #write(message: Message | BatchAnswers, written?: string): boolean {
    const { input, output } = this.#options;
    if (this.#isOver || output.destroyed || output.writableEnded) return false;
    const isBatch = message instanceof BatchAnswers;
    const isTold = !isBatch && isNotification(message);
    if (isTold && output.writableLength > MAX_UNREAD_BYTES) return false;
    const whole = isBatch ? message.take() : (written ?? jsonText(message));
    const text = whole === undefined || this.#hasRoomFor(whole) ? whole : withoutRoom(message);
    if (text === undefined) return false;
    if (!output.write(`${text}\n`) && !input.isPaused()) {
      // Who does not read is not listened to either.
      input.pause();
      output.once("drain", () => {
        // After the end it would keep the process alive.
        if (!this.#isOver) input.resume();
      });
    }
    return true;
  }
}

function refusal(id: RequestId | undefined, code: number, message: string): ErrorResponse {
  // Clients check the outline of a message: an id that is not known is left out, since null is none for them.
  return { jsonrpc: "2.0", ...(id === undefined ? {} : { id }), error: { code, message } };
}

/** What is written in place of an answer for which there is no room; nothing for the rest. */
function withoutRoom(message: Message | BatchAnswers): string | undefined {
  if (message instanceof BatchAnswers) return JSON.stringify(refusal(undefined, INTERNAL_ERROR, NO_ROOM));
  return isResponse(message) ? JSON.stringify(refusal(message.id ?? undefined, INTERNAL_ERROR, NO_ROOM)) : undefined;
}

/** Resolves when everything is written, or its reader has had time enough to take it. */
async function flushed(output: Writable): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve) => {
    timer = setTimeout(resolve, FLUSH_MS);
    output.write("", () => resolve());
  });
  clearTimeout(timer);
}

type BatchLimits = Pick<ServerLimits, "batchMessages" | "batchBytes">;
