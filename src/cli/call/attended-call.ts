import { asText } from "../../text/as-text.ts";
import { join } from "node:path";
import { quoteWord } from "../../text/shell-words.ts";
import type { CallOptions } from "../../client/conversation/call-scope.ts";
import type { Client } from "../../client/client.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import { eraKey } from "../../host/servers/era-cache.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Notification, Params } from "../../protocol/json-rpc.ts";
import type { Era } from "../../protocol/revisions.ts";
import type { InputRequiredResult } from "../../protocol/mcp.ts";
import type { CommandContext, Options } from "../command/command.ts";
import { DECLARED } from "../command/declared.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { Interview, InterviewOptions } from "../input/interview.ts";
import type { Output } from "../output/output.ts";
import { ProgressLine } from "./progress-line.ts";
import type { ServerSet } from "../command/server-set.ts";
import { sizeLimit, SIZE_LIMIT } from "./size-limit.ts";
import type { UnansweredOutcome } from "../input/unanswered.ts";
import { visible } from "../../text/visible.ts";
import { shownValue } from "../command/in-place.ts";
import { readdir, rm, stat } from "node:fs/promises";
import { readOwnerOnly, writeOwnerOnly } from "../../files/owner-only-file.ts";
import { parseJson } from "../../json/parse-json.ts";
import { REQUEST_STATE_HOURS } from "../../protocol/modern.ts";

/** Options of commands during which a server may ask questions. */
export const ATTENDING = {
  answer: {
    type: "string",
    multiple: true,
    value: "key=value",
    help: "answer a question that the server will ask; repeatable",
  },
  continue: { type: "string", value: "ID", help: "continue a call that waits for an answer" },
  "sample-with": {
    type: "string",
    value: '"CMD …"',
    help: "program that answers sampling requests: JSON in, text out",
  },
  yes: { type: "boolean", short: "y", help: "do not ask before a destructive tool is called or --sample-with is used" },
  ...SIZE_LIMIT,
} as const satisfies Options;

interface AttendingOptions {
  answer?: readonly string[] | undefined;
  continue?: string | undefined;
  "sample-with"?: string | undefined;
  yes?: boolean | undefined;
  "max-size"?: string | undefined;
}

export interface Attendance {
  /** `mcp call` */
  command: string;
  context: CommandContext<AttendingOptions>;
  servers: ServerSet;
  definition: ServerDefinition;
}

/** Options that describe the call; a parked call already has them. */
const OF_THE_CALL = ["arg", "args", "no-validate", "repeat", "answer", "continue"];

/** A server that is started for each command may seal its state with a key that ends with its process. */
const STATE_LOST =
  "If the server does not keep its state between two commands, repeat the call with all --answer options.";

/** A call with a user: shows its progress and the server's messages, answers its questions or parks it. */
export class AttendedCall {
  readonly client: Client;
  /** The call that `--continue` continues. */
  readonly saved: SavedCall | undefined;
  readonly #attendance: Attendance;
  readonly #desk: QuestionDesk;
  readonly #calls: SavedCalls;
  readonly #display: ProgressDisplay;

  static async open(attendance: Attendance): Promise<AttendedCall> {
    const { context, servers, definition } = attendance;
    const { out, flags, options, signal, surroundings } = context;
    const calls = new SavedCalls(join(servers.stateFolder, "parked"), surroundings.platform);
    const saved = options.continue === undefined ? undefined : await calls.get(options.continue);
    const line = options["sample-with"];
    const sampler =
      line === undefined
        ? undefined
        : new (await import("../input/sampling-program.ts")).SamplingProgram(line, surroundings, flags.timeoutMs);
    const display: ProgressDisplay = {};
    const aside: InterviewOptions["aside"] = (run) => (display.progress ? display.progress.aside(run) : run());
    const answers = [...(options.answer ?? []), ...(saved?.given ?? [])];
    const desk: QuestionDesk = {};
    const opened = () =>
      (desk.opening ??= import("../input/interview.ts").then(({ Interview: Opened }) => {
        const asksToSample = options.yes !== true;
        return (desk.interview = new Opened({ out, answers, sampler, asksToSample, aside, era: () => desk.era }));
      }));
    if (answers.length > 0) await opened();
    const client = await servers.connect(definition, {
      signal,
      maxMessageBytes: options["max-size"] === undefined ? undefined : sizeLimit(options["max-size"]),
      input: {
        capabilities: { ...DECLARED, ...(sampler ? { sampling: { tools: {} } } : {}) },
        handle: async (request, context) => (await opened()).handle(request, context),
      },
      onNotification: (notification) => {
        const message = flags.verbose ? logLine(notification) : undefined;
        if (message !== undefined) noteBeside(display, out, out.onStderr("dim", message));
      },
    });
    desk.era = client.era;
    // A server from a tool file writes into the program's own log what it sends to its client.
    const isLogged = definition.entry?.reach.kind === "api";
    if (flags.verbose && !isLogged) await wantEveryMessage(client, signal);
    return new AttendedCall({ attendance, client, desk, calls, saved, display });
  }

  private constructor({ attendance, client, desk, calls, saved, display }: Parts) {
    this.#attendance = attendance;
    this.client = client;
    this.#desk = desk;
    this.#calls = calls;
    this.saved = saved;
    this.#display = display;
  }

  /** Makes the call, or continues the parked one. */
  async run<T>(call: MadeCall, send: (options: CallOptions) => Promise<T>): Promise<T> {
    const { out, signal } = this.#attendance.context;
    this.#desk.interview?.answers.renew();
    using progress = new ProgressLine(out);
    this.#display.progress = progress;
    try {
      const result = await send({ signal, onProgress: progress.report, resume: this.saved?.request });
      if (this.saved) await this.#calls.remove(this.saved.id);
      return result;
    } catch (error) {
      throw error instanceof NexusError ? await this.#ended(call, error) : error;
    } finally {
      this.#display.progress = undefined;
    }
  }

  /** The number of questions so far that could not be asked. */
  get unanswered(): number {
    return this.#desk.interview?.unanswered.length ?? 0;
  }

  /** Call this after the result was shown: throws if a question was declined because it could not be asked. */
  async finish(): Promise<void> {
    const { interview } = this.#desk;
    if (!interview) return;
    if (interview.unanswered.length > 0) throw await this.#declined(interview);
    for (const text of interview.answers.unused())
      this.#attendance.context.out.note(`The server did not ask for --answer ${text}.`);
  }

  /** Throws if `--continue` is used with another call than the parked one. */
  requireSame(method: string, params: Params): void {
    const { saved } = this;
    const { definition, context } = this.#attendance;
    if (!saved) return;
    const isSame =
      saved.server === definition.id &&
      saved.key === keyOf(definition) &&
      saved.method === method &&
      (saved.params["name"] ?? saved.params["uri"]) === (params["name"] ?? params["uri"]);
    if (!isSame) {
      const what = String(saved.params["name"] ?? saved.params["uri"]);
      throw wrongUsage(
        `Call "${saved.id}" is a different call: ${saved.method} of "${what}" on server "${saved.server}"`,
        "Use the command that was printed with the question.",
      );
    }
    const options: Readonly<Record<string, unknown>> = { ...context.options };
    const extra = ["arg", "args", "repeat"].find((name) => options[name] !== undefined);
    if (extra !== undefined) {
      throw wrongUsage(`--${extra} cannot be used with --continue`, "The parked call already has its arguments.");
    }
  }

  async #ended(call: MadeCall, error: NexusError): Promise<NexusError> {
    const interview = await this.#desk.opening;
    await interview?.settled();
    const hasUnanswered = interview !== undefined && interview.unanswered.length > 0;
    if (hasUnanswered && error.code === "INPUT_FAILED" && isQuestion(error.details.raw)) {
      return this.#park(call, error.details.raw, interview);
    }
    if (error.code !== "SERVER_ERROR") return error;
    if (hasUnanswered) return this.#declined(interview);
    if (!this.saved) return (await import("./capability-advice.ts")).withCapabilityAdvice(error);
    await this.#calls.remove(this.saved.id);
    return error.with({ hint: STATE_LOST });
  }

  async #park({ method, params }: MadeCall, request: InputRequiredResult, interview: Interview) {
    const { answers, unanswered } = interview;
    const { misspeltAnswers } = await import("../input/unanswered.ts");
    const { definition } = this.#attendance;
    const id = this.saved?.id ?? SavedCalls.newId();
    const keys = Object.keys(request.inputRequests ?? {});
    const misspelt = misspeltAnswers(answers.unused(), unanswered);
    const given = answers.goodFor(keys).filter((text) => !misspelt.includes(text));
    const [server, key] = [definition.id, keyOf(definition)];
    try {
      await this.#calls.keep({ id, server, key, method, params: this.saved?.params ?? params, request, given });
    } catch (error) {
      // The question is more important; the error also says that the call could not be saved.
      const again = this.#withFitAnswers(interview);
      return this.#unanswered(interview, { kind: "lost", again, reason: messageOf(error) });
    }
    const again = this.#again(["--continue", id], OF_THE_CALL);
    return this.#unanswered(interview, { kind: "parked", id, again, isOurs: definition.entry?.reach.kind === "api" });
  }

  #declined(interview: Interview): Promise<NexusError> {
    return this.#unanswered(interview, { kind: "declined", again: this.#withFitAnswers(interview) });
  }

  /** Leaves out answers that were invalid or not asked for, because they would fail again. */
  #withFitAnswers({ answers }: Interview): string {
    const fit = answers.fit().flatMap((text) => ["--answer", quoteWord(text)]);
    return this.#again(fit, ["answer"]);
  }

  async #unanswered({ answers, unanswered }: Interview, outcome: UnansweredOutcome): Promise<NexusError> {
    const { unansweredError } = await import("../input/unanswered.ts");
    return unansweredError(unanswered, {
      server: this.#attendance.definition.id,
      outcome,
      unused: answers.unused(),
      isTerminalThere: this.#attendance.context.out.isAtTerminal,
    });
  }

  #again(plus: readonly string[], without: readonly string[]): string {
    const { command, context } = this.#attendance;
    return commandAgain({ command, words: context.words, options: { ...context.options }, without, plus });
  }
}

type MadeCall = Pick<SavedCall, "method" | "params">;

/** Who answers the server's questions: loaded with the first of them, or with an answer that was given. */
interface QuestionDesk {
  opening?: Promise<Interview>;
  /** Undefined before there is a question or an answer. */
  interview?: Interview;
  /** The server's era; known after it is connected. */
  era?: Era;
}

/** The progress display of a call; other output has to clear it first. */
interface ProgressDisplay {
  progress?: ProgressLine | undefined;
}

function noteBeside({ progress }: ProgressDisplay, out: Output, text: string): void {
  if (progress) progress.note(text);
  else out.note(text);
}

interface Parts {
  display: ProgressDisplay;
  attendance: Attendance;
  client: Client;
  desk: QuestionDesk;
  calls: SavedCalls;
  saved: SavedCall | undefined;
}

function keyOf({ entry }: ServerDefinition): string | undefined {
  return entry && eraKey(entry);
}

function isQuestion(raw: unknown): raw is InputRequiredResult {
  return isRecord(raw) && raw["resultType"] === "input_required";
}

/** A server's log message as `--verbose` shows it: `[level] logger: text`. */
function logLine({ method, params }: Notification): string | undefined {
  if (method !== "notifications/message") return undefined;
  const { level, logger, data } = params ?? {};
  const text = typeof data === "string" ? data : (JSON.stringify(data) ?? "");
  return visible(`[${asText(level)}] ${typeof logger === "string" ? `${logger}: ` : ""}${text}`);
}

/** Asks for all log messages; failures are ignored. */
async function wantEveryMessage(client: Client, signal: AbortSignal): Promise<void> {
  if (client.serverCapabilities?.logging) await client.setLogLevel("debug", { signal }).catch(() => {});
}

interface Again {
  /** `mcp call` */
  command: string;
  words: readonly string[];
  /** As given, including flags. */
  options: Readonly<Record<string, unknown>>;
  without?: readonly string[];
  plus?: readonly string[];
}

/** The given command line as it would be typed, with some options removed and others added. */
export function commandAgain({ command, words, options, without = [], plus = [] }: Again): string {
  const repeated = Object.entries(options)
    .filter(([name, value]) => !without.includes(name) && value !== undefined && value !== false)
    .flatMap(([name, value]) => {
      if (value === true) return [`--${name}`];
      return [value].flat().flatMap((each) => [`--${name}`, quoteWord(shownValue(name, String(each)))]);
    });
  return ["nexus", command, ...words.map((word) => quoteWord(word)), ...plus, ...repeated].join(" ");
}

/** A parked call to a modern server, with everything that is needed to continue it. */
interface SavedCall {
  id: string;
  server: string;
  /** Identifies the server: one that is started or reached in another way is a different one. */
  key: string | undefined;
  method: string;
  params: Params;
  /** The server's questions and state, unchanged. */
  request: InputRequiredResult;
  /** Answers that were already given. */
  given: readonly string[];
}

const LIFE_MS = REQUEST_STATE_HOURS * 3_600_000;
const LETTERS = "abcdefghjkmnpqrstuvwxyz23456789";
const ID = /^[a-z0-9]{4,16}$/;

/** Parked calls, each in an owner-only file, because a state may contain anything. */
class SavedCalls {
  readonly #folder: string;
  readonly #platform: NodeJS.Platform;

  constructor(folder: string, platform: NodeJS.Platform) {
    this.#folder = folder;
    this.#platform = platform;
  }

  static newId(): string {
    return Array.from(
      { length: 6 },
      () => LETTERS[process.getBuiltinModule("node:crypto").randomInt(LETTERS.length)],
    ).join("");
  }

  async keep(call: SavedCall): Promise<void> {
    await this.#removeOld();
    await writeOwnerOnly(this.#file(call.id), JSON.stringify(call));
  }

  async get(id: string): Promise<SavedCall> {
    await this.#removeOld();
    const data = ID.test(id) ? await readOwnerOnly(this.#file(id), this.#platform) : undefined;
    // A damaged file is ignored.
    const call = data && parseJson(data.toString("utf8"));
    if (isRecord(call) && isRecord(call["request"])) return call as unknown as SavedCall;
    throw new NexusError("NAME_UNKNOWN", `There is no parked call "${id}"`, {
      hint: `Parked calls are kept for ${REQUEST_STATE_HOURS} hours. Make the call again without --continue.`,
      mayHaveReached: false,
    });
  }

  async remove(id: string): Promise<void> {
    await rm(this.#file(id), { force: true });
  }

  async #removeOld(): Promise<void> {
    const files = await readdir(this.#folder).catch(() => []);
    await Promise.all(
      files.map(async (name) => {
        const file = join(this.#folder, name);
        const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Infinity }));
        if (Date.now() - mtimeMs > LIFE_MS) await rm(file, { force: true });
      }),
    );
  }

  #file(id: string): string {
    return join(this.#folder, `${id}.json`);
  }
}
