import { checkOptions, type OptionNames } from "../../errors/check-options.ts";
import { Turns } from "../../async/turns.ts";
import { unlessAborted } from "../../async/unless-aborted.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { asNexusError, messageOf, type NexusError } from "../../errors/nexus-error.ts";
import { covers, isSafePattern, parsePattern, type AccessPattern } from "../../host/directory/policy.ts";
import { quoteWord } from "../../text/shell-words.ts";
import { visible } from "../../text/visible.ts";
import type { ConsentAsker, ConsentQuestion, ConsentReply, ServerProvenance } from "./consent-question.ts";
import type { DecisionSubject, RememberedDecisions } from "./remembered-decisions.ts";
import { shownJson, cutMiddle } from "./shown-json.ts";
import type { ConsentAnswer, ToolConsent, WantedCall } from "./tool-consent.ts";
import { wrongReply } from "./wrong-reply.ts";
import { maskWords, maskUrl } from "../../masking/mask-words.ts";
import { sha256 } from "../../text/digest.ts";

const MAX_REACH = 500;

export interface ConsentDeskOptions {
  /** Patterns of tools that run without a question: `github.search*`, `files`, `*`. */
  allow?: readonly string[] | undefined;
  /** Undefined: there is nobody to ask, and what needs a question is denied. */
  ask?: ConsentAsker | undefined;
  /** Undefined: `always` counts for this session. */
  remembered?: RememberedDecisions | undefined;
  /**
   * For example `(server) => host.find(server)?.definition`. Without it, nothing can be remembered, and patterns are
   * always about the tool itself, also if it calls others.
   */
  definitionOf?: ((server: string) => ServerDefinition | undefined) | undefined;
  /** Shared with others that ask the same person; default: its own. */
  turns?: Turns | undefined;
  /** Called if a decision could not be remembered, so that it counts for this session, or once if decisions cannot be read. */
  onProblem?: ((error: NexusError) => void) | undefined;
}

const OPTIONS: OptionNames<ConsentDeskOptions> = {
  allow: true,
  ask: true,
  remembered: true,
  definitionOf: true,
  turns: true,
  onProblem: true,
};

const REPLIES: readonly ConsentReply[] = ["once", "session", "always", "no"];

const ALLOWED: ConsentAnswer = { kind: "allowed" };

/**
 * Decides about calls: read-only tools and allowed patterns run, earlier decisions count, and a person is asked about
 * everything else, one question after the other. Deny by default.
 */
export class ConsentDesk implements ToolConsent {
  readonly #options: ConsentDeskOptions;
  readonly #allow: readonly AccessPattern[];
  readonly #turns: Turns;
  readonly #lookups = new Turns();
  /** Subjects that were allowed for this session. */
  readonly #session = new Set<string>();
  #isProblemTold = false;

  /** Throws CONFIG_INVALID for an invalid pattern. */
  constructor(options: ConsentDeskOptions = {}) {
    checkOptions("ConsentDesk", options, OPTIONS);
    this.#options = options;
    this.#allow = options.allow?.map(parsePattern) ?? [];
    this.#turns = options.turns ?? new Turns();
  }

  /** Rejects with CANCELLED when the signal is aborted, and with ARGUMENTS_INVALID if `ask` returned no valid reply. */
  async decide(call: WantedCall, signal: AbortSignal): Promise<ConsentAnswer> {
    if (call.annotations.readOnlyHint === true || this.#isAllowed(call)) return ALLOWED;
    return unlessAborted(this.#decideWithPerson(call, signal), signal);
  }

  /** Forgets the decisions of this session. */
  forgetSession(): void {
    this.#session.clear();
  }

  #isAllowed(call: WantedCall): boolean {
    const target = { kind: "tool", server: call.server, name: this.#allowedAs(call) } as const;
    return this.#allow.some((pattern) => covers(pattern, target));
  }

  /**
   * The tool that a pattern has to match. That a tool only calls another one is believed of tool files alone, which
   * Nexus serves itself: any other server could call whatever it does by an allowed name.
   */
  #allowedAs({ server, tool, calls }: WantedCall): string {
    const isOwn = this.#options.definitionOf?.(server)?.entry?.reach.kind === "api";
    return isOwn ? (calls ?? tool) : tool;
  }

  async #decideWithPerson(call: WantedCall, signal: AbortSignal): Promise<ConsentAnswer> {
    const definition = this.#options.definitionOf?.(call.server);
    const subject = subjectOf(call, definition);
    let wrong: NexusError | undefined;
    try {
      // One after the other, so that questions come in the order of the calls.
      if (await this.#lookups.run(() => this.#isDecided(call, subject))) return ALLOWED;
      const { ask } = this.#options;
      if (!ask) return denied(nobodyToAsk(call.server, this.#allowedAs(call)));
      return await this.#turns.run(async () => {
        signal.throwIfAborted();
        // A question before this one may have been about the same tool.
        if (await this.#isDecided(call, subject)) return ALLOWED;
        const question = questionOf(call, definition, { canRemember: this.#canRemember(subject) });
        const reply = await unlessAborted(Promise.resolve(ask(question, signal)), signal);
        if (!REPLIES.includes(reply)) throw (wrong = wrongReply(`"ask" of ConsentDesk`, reply, REPLIES.map(quoted)));
        return await this.#settle(reply, call, subject);
      });
    } catch (error) {
      if (wrong) throw wrong;
      // Whatever went wrong, nobody has allowed the call.
      return denied(`The question about this call could not be answered: ${visible(messageOf(error))}`);
    }
  }

  async #isDecided(call: WantedCall, subject: DecisionSubject | undefined): Promise<boolean> {
    if (this.#session.has(sessionKey(call, subject))) return true;
    try {
      return subject !== undefined && (await this.#options.remembered?.has(subject)) === true;
    } catch (error) {
      if (!this.#isProblemTold) this.#options.onProblem?.(asNexusError(error));
      this.#isProblemTold = true;
      throw error;
    }
  }

  async #settle(reply: ConsentReply, call: WantedCall, subject: DecisionSubject | undefined): Promise<ConsentAnswer> {
    if (reply === "session" || reply === "always") this.#session.add(sessionKey(call, subject));
    if (reply === "always") await this.#remember(subject);
    if (reply !== "no") return ALLOWED;
    return denied("The user does not allow this call. Do not repeat it unless the user asks for it.");
  }

  /** The person has allowed the call, so it is made even if this could not be written down. */
  async #remember(subject: DecisionSubject | undefined): Promise<void> {
    const { remembered, onProblem } = this.#options;
    if (!subject || !remembered) return;
    try {
      await remembered.remember(subject);
    } catch (error) {
      onProblem?.(asNexusError(error));
    }
  }

  #canRemember(subject: DecisionSubject | undefined): boolean {
    return subject !== undefined && this.#options.remembered !== undefined;
  }
}

/** Undefined if the server or the definition of the tool cannot be recognised later. */
function subjectOf(call: WantedCall, definition: ServerDefinition | undefined): DecisionSubject | undefined {
  const { server, definitionHash } = call;
  const entry = definition && entryIdentity(definition);
  if (entry === undefined || definitionHash === undefined) return undefined;
  return { server, tool: toolOf(call), entry, definition: definitionHash };
}

/** A definition that changes during the session is asked about again. */
function sessionKey(call: WantedCall, subject: DecisionSubject | undefined): string {
  return JSON.stringify([call.server, toolOf(call), subject?.entry, call.definitionHash]);
}

/** A tool that calls others is decided for each of them. */
function toolOf({ tool, calls }: WantedCall): string {
  return calls === undefined ? tool : `${tool} → ${calls}`;
}

function questionOf(
  call: WantedCall,
  definition: ServerDefinition | undefined,
  { canRemember }: { canRemember: boolean },
): ConsentQuestion {
  const { title, readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = call.annotations;
  return {
    server: visible(call.server),
    tool: visible(toolOf(call)),
    arguments: shownJson(call.arguments),
    annotations: {
      ...(typeof title === "string" && { title: visible(title) }),
      ...(typeof readOnlyHint === "boolean" && { readOnlyHint }),
      ...(typeof destructiveHint === "boolean" && { destructiveHint }),
      ...(typeof idempotentHint === "boolean" && { idempotentHint }),
      ...(typeof openWorldHint === "boolean" && { openWorldHint }),
    },
    provenance: definition && serverProvenance(definition),
    canRemember,
  };
}

function nobodyToAsk(server: string, tool: string): string {
  const name = `${server}.${tool}`;
  // A name that a server chose must not become a pattern for more.
  const how = isSafePattern(name) ? `with --allow ${quoteWord(name)}` : "at a terminal";
  return `The tool is not read-only, and there is no person to ask for permission. The user can allow it ${how}.`;
}

function denied(reason: string): ConsentAnswer {
  return { kind: "denied", reason };
}

function quoted(text: string): string {
  return `"${text}"`;
}

function serverProvenance(definition: ServerDefinition): ServerProvenance {
  const { origin } = definition;
  return {
    reach: visible(cutMiddle(reachOf(definition), MAX_REACH)),
    file: origin && visible(`${origin.file}:${origin.line}`),
  };
}

/** As written, because resolved variables may be secret. */
function reachOf({ written, entry, transport }: ServerDefinition): string {
  const asWritten = written?.command ?? written?.url;
  if (asWritten !== undefined) return asWritten;
  if (!entry) return transport ? "in this program" : "unknown";
  const { reach } = entry;
  switch (reach.kind) {
    case "stdio":
      return maskWords([reach.command, ...reach.args]).join(" ");
    case "http":
    case "sse":
      return maskUrl(reach.url);
    case "api":
      return reach.file;
  }
}

/**
 * Identifies what the entry of a server starts or connects to: its command with environment, its URL with headers, or its
 * tool file. A digest, because there are secrets in it. Undefined for a server without an entry.
 */
function entryIdentity({ entry }: ServerDefinition): string | undefined {
  return entry && sha256(JSON.stringify(entry.reach));
}
