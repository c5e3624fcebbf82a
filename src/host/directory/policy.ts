import { type OptionNames, TEXTS } from "../../errors/check-options.ts";
import { abortSignalOf, type CancelSignal } from "../../async/cancellation.ts";
import { serverId } from "../../text/server-id.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { ToolAnnotations } from "../../protocol/mcp.ts";
import { type AccessTarget, otherTarget, decidedAs, type RequestTarget, wayTarget } from "./access-target.ts";
import { unlessAborted } from "../../async/unless-aborted.ts";
import { visible } from "../../text/visible.ts";

/** Rules for who may see and use what. They can only narrow what a server's entry allows. */
export interface PolicySettings {
  /**
   * Patterns of what is allowed; where given, nothing else is. `server` or `server.*` is everything of a server,
   * `server.tool` with `*` its tools, `server/resources`, `server/prompts` and `server/methods` the other kinds; `*` in
   * place of the server is every server, and alone everything.
   */
  allow?: readonly string[] | undefined;
  /** Patterns of what is denied; `deny` wins over `allow`. */
  deny?: readonly string[] | undefined;
  /** Allow only tools that are annotated as read-only, resources and prompts. */
  readOnly?: boolean | undefined;
  /** The agents that see a server, by server id. A server that is not listed is visible to all. */
  visibleTo?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Called before a tool that may have effects; false denies it. Without it, such tools are called. */
  consent?: ((request: ConsentRequest) => boolean | Promise<boolean>) | undefined;
}

export const POLICY_SETTINGS: OptionNames<PolicySettings> = {
  allow: TEXTS,
  deny: TEXTS,
  readOnly: true,
  visibleTo: true,
  consent: true,
};

export interface ConsentRequest {
  server: string;
  /** A tool, or an extension method of the server if the policy allows it. */
  kind: AccessTarget["kind"];
  /** Its name. */
  tool: string;
  arguments: unknown;
  annotations: ToolAnnotations | undefined;
  agent: string | undefined;
  /** Aborted when the call is cancelled and consent is no longer needed. */
  signal: AbortSignal | undefined;
}

export type Decision = { kind: "allowed" } | { kind: "needs-consent" } | { kind: "denied"; reason: string };

/** The rules for tools in a server's entry. */
export type ToolRules = { readonly allow?: readonly string[]; readonly deny?: readonly string[] };

/** The rules in the entries of servers. */
export interface EntryRules {
  /** Whether any server is shared only with some agents. */
  readonly hasAgents: boolean;
  toolsOf(server: string): ToolRules | undefined;
  /** The agents that the server is shared with; undefined: all. */
  agentsOf(server: string): readonly string[] | undefined;
}

/** For policies that do not depend on entries. */
export const NO_ENTRY_RULES: EntryRules = { hasAgents: false, toolsOf: () => undefined, agentsOf: () => undefined };

/** The use for which consent is requested. */
export interface WantedUse {
  agent: string | undefined;
  target: RequestTarget;
  arguments?: unknown;
  signal: CancelSignal | undefined;
}

const ALLOWED: Decision = { kind: "allowed" };
const NEEDS_CONSENT: Decision = { kind: "needs-consent" };

/** Decides who may see and use what: combines the host's settings and the servers' entries. */
export class Policy {
  readonly #settings: PolicySettings;
  readonly #allow: readonly AccessPattern[] | undefined;
  readonly #deny: readonly AccessPattern[];
  readonly #agents: ReadonlyMap<string, readonly string[]>;
  readonly #entries: EntryRules;

  constructor(settings: PolicySettings, entries: EntryRules) {
    this.#settings = settings;
    this.#allow = settings.allow?.map(parsePattern);
    this.#deny = settings.deny?.map(parsePattern) ?? [];
    this.#agents = agentsByServer(settings.visibleTo ?? {});
    this.#entries = entries;
  }

  /** Whether somebody has said which tools of a server may be called: in these settings or in its entry. */
  hasToolRules(server: string): boolean {
    const { allow, deny, readOnly, consent } = this.#settings;
    const own = this.#entries.toolsOf(server);
    return [allow, deny, readOnly, consent, own?.allow, own?.deny].some((rule) => rule !== undefined);
  }

  /** Whether all agents see the same. */
  get isSameForAll(): boolean {
    return this.#agents.size === 0 && !this.#entries.hasAgents;
  }

  /** Whether nothing of this kind needs an individual decision. Called for every call; allocates nothing. */
  isOpen(kind: AccessTarget["kind"], server: string): boolean {
    if (this.#allow || this.#agents.has(server) || this.#entries.agentsOf(server)) return false;
    for (const pattern of this.#deny) if (concerns(pattern, server)) return false;
    return (kind !== "tool" && kind !== "method") || !this.#hasEffectRules(server);
  }

  /** Listing and using have the same decision, so a hidden item cannot be used. */
  decide(agent: string | undefined, requested: RequestTarget): Decision {
    const target = decidedAs(requested);
    if (target.searched) return this.#decideWay(agent, target, target.searched);
    const other = otherTarget(target);
    const decision = this.#decideOne(agent, target);
    return other ? stricter(decision, this.#decideOne(agent, other)) : decision;
  }

  /** A tool that only leads to others is there for whoever may use one of them, unless it is itself denied. */
  #decideWay(
    agent: string | undefined,
    { searched: _searched, isWay: _isWay, ...plain }: AccessTarget,
    searched: readonly AccessTarget[],
  ): Decision {
    // An API without such tools describes those that it lists.
    if (searched.length === 0) return this.decide(agent, plain);
    const decision = this.#decideOne(agent, { ...plain, isWay: true });
    if (decision.kind === "denied" || searched.some((target) => this.allows(agent, target))) return decision;
    return denied("no tool that it leads to is allowed");
  }

  #decideOne(agent: string | undefined, target: AccessTarget): Decision {
    const { kind, server } = target;
    if (isHidden(agent, this.#agents.get(server)) || isHidden(agent, this.#entries.agentsOf(server))) {
      return denied("the server is not shared with this agent");
    }
    for (const pattern of this.#deny) if (covers(pattern, target)) return denied("it is on the deny list");
    if (target.isCalled && otherForms(target).some((form) => this.#deny.some((pattern) => covers(pattern, form))))
      return denied("it is on the deny list");
    if (this.#allow && !target.isWay && !isAllowedBy(this.#allow, target)) return denied("it is not on the allow list");
    if (kind === "tool") return this.#decideTool(target);
    return kind === "method" ? this.#decideMethod(target) : ALLOWED;
  }

  /** The rule that decides about this, for people; undefined if none of these settings does. */
  findRule(requested: RequestTarget): string | undefined {
    const target = decidedAs(requested);
    const way = wayTarget(target);
    const denying = this.#deny.find((pattern) => covers(pattern, target) || (way && covers(pattern, way)));
    if (denying) return `deny ${denying.text}`;
    const allowing = this.#allow?.find((pattern) => allowsBy(pattern, target));
    if (this.#allow && !allowing) return undefined;
    const hasEffect = target.kind === "method" || (target.kind === "tool" && !target.annotations?.readOnlyHint);
    if (this.#settings.readOnly && hasEffect) return "read-only";
    return allowing && `allow ${allowing.text}`;
  }

  /** Whether it is shown. */
  allows(agent: string | undefined, target: RequestTarget): boolean {
    return this.decide(agent, target).kind !== "denied";
  }

  /** Rejects with DENIED if the use is denied, or if it needs consent and gets none. */
  async permit(use: WantedUse): Promise<void> {
    await this.enforce(this.decide(use.agent, use.target), use);
  }

  /** The same for an existing decision. */
  async enforce(decision: Decision, use: WantedUse): Promise<void> {
    if (decision.kind === "denied") throw notAllowed(use.target, decision.reason);
    if (decision.kind === "needs-consent" && !(await this.askConsent(use))) {
      throw notAllowed(use.target, "consent was denied");
    }
  }

  /** False if consent is denied or there is no consent function. */
  async askConsent({ agent, target, arguments: args, signal }: WantedUse): Promise<boolean> {
    const { consent } = this.#settings;
    if (!consent) return false;
    const { kind, server, name: tool, annotations } = decidedAs(target);
    const request = {
      server,
      kind,
      tool,
      arguments: args,
      annotations,
      agent,
      signal: signal && abortSignalOf(signal),
    };
    const answer: unknown = await unlessAborted(Promise.resolve(consent(request)), signal);
    return answer === true;
  }

  #decideTool(target: AccessTarget): Decision {
    const { server, name, annotations, isWay } = target;
    const { allow, deny } = this.#entries.toolsOf(server) ?? {};
    const forms = deny && target.isCalled ? [target, ...otherForms(target)] : [target];
    if (deny?.some((pattern) => forms.some((form) => matchesName(pattern, form.name))))
      return denied("the server's entry denies it");
    if (isWay) return ALLOWED;
    if (allow && !allow.some((pattern) => matchesName(pattern, name)))
      return denied("the server's entry does not allow it");
    if (annotations?.readOnlyHint === true) return ALLOWED;
    if (this.#settings.readOnly) return denied("only read-only tools are allowed");
    return this.#settings.consent ? NEEDS_CONSENT : ALLOWED;
  }

  /** The effect of a method is unknown: if any rule concerns its server, the allow list must name the method. */
  #decideMethod({ server }: AccessTarget): Decision {
    const { readOnly, consent } = this.#settings;
    if (readOnly) return denied("only read-only tools, resources and prompts are allowed");
    const isRuled = this.#hasEffectRules(server) || this.#deny.some((pattern) => concerns(pattern, server));
    if (isRuled && !this.#allow) return denied("the rules for this server allow only tools");
    return consent ? NEEDS_CONSENT : ALLOWED;
  }

  #hasEffectRules(server: string): boolean {
    const { readOnly, consent } = this.#settings;
    const rules = this.#entries.toolsOf(server);
    return Boolean(readOnly) || consent !== undefined || rules?.allow !== undefined || rules?.deny !== undefined;
  }
}

/**
 * A search view of another gateway also takes `server.tool`, `mcp__server__tool` and, where it is of one server, `server.tool`
 * for `tool`. Rules are written with the names that it lists: what they deny is denied in each form.
 */
function otherForms(target: AccessTarget): AccessTarget[] {
  const name = target.name.replace(/^mcp__/, "");
  const [, server, own] = /^(.+?)(?:__|\.)(.+)$/s.exec(name) ?? [];
  const others = own === undefined ? [name] : [name, `${server}__${own}`, own];
  return others.map((form) => ({ ...target, name: form }));
}

function isHidden(agent: string | undefined, agents: readonly string[] | undefined): boolean {
  return agents !== undefined && (agent === undefined || !agents.includes(agent));
}

function isAllowedBy(allow: readonly AccessPattern[], target: AccessTarget): boolean {
  for (const pattern of allow) if (allowsBy(pattern, target)) return true;
  return false;
}

/** A server is on the allow list if anything of it is. */
function allowsBy(pattern: AccessPattern, target: AccessTarget): boolean {
  return target.kind === "server" ? concerns(pattern, target.server) : covers(pattern, target);
}

/** By server id. Where two names are the same id, only the agents of both lists see the server. */
function agentsByServer(visibleTo: NonNullable<PolicySettings["visibleTo"]>): Map<string, readonly string[]> {
  const agents = new Map<string, readonly string[]>();
  for (const [name, named] of Object.entries(visibleTo)) {
    const id = serverId(name);
    agents.set(id, agents.get(id)?.filter((agent) => named.includes(agent)) ?? named);
  }
  return agents;
}

/** The stricter of two decisions. */
export function stricter(one: Decision, other: Decision): Decision {
  if (one.kind === "denied" || other.kind === "allowed") return one;
  return other;
}

function denied(reason: string): Decision {
  return { kind: "denied", reason };
}

const NOUNS: Record<AccessTarget["kind"], string> = {
  server: "Server",
  tool: "Tool",
  resource: "Resource",
  prompt: "Prompt",
  method: "Method",
  set: "Set",
};

function notAllowed(target: RequestTarget, reason: string): NexusError {
  const { kind, server, name } = decidedAs(target);
  const owner = kind === "server" ? "" : ` of server "${server}"`;
  const message = `${NOUNS[kind]} "${name}"${owner} is not allowed: ${reason}`;
  return new NexusError("DENIED", message, { server, mayHaveReached: false });
}

/** A parsed pattern of a policy: `server`, `server.*`, `server.tool*`, `server/resources`, `*`. */
export interface AccessPattern {
  /** As it was written. */
  text: string;
  /** An id, the start of ids with `*`, or `*` for every server. */
  server: NamePattern;
  part: { kind: "everything" } | { kind: "tool"; name: NamePattern } | { kind: "resource" | "prompt" | "method" };
}

/** A name in which `*` stands for any text: what stands between the stars. */
type NamePattern = readonly string[];

const KINDS = { resources: "resource", prompts: "prompt", methods: "method" } as const;
const FORM = /^(\*|[a-z][a-z0-9-]*\*?)(?:\.([^]+)|\/(resources|prompts|methods))?$/;

/** Throws if the pattern is invalid: a rule that matches nothing without notice would protect nothing. */
export function parsePattern(text: string): AccessPattern {
  const [, id, tool, kind] = FORM.exec(text) ?? [];
  if (id === undefined) throw invalidPattern(text);
  const server = namePattern(id);
  if (kind !== undefined) return { text, server, part: { kind: KINDS[kind as keyof typeof KINDS] } };
  const isEverything = tool === undefined || tool === "*";
  return { text, server, part: isEverything ? { kind: "everything" } : { kind: "tool", name: namePattern(tool) } };
}

/** Whether the pattern matches this target. A server itself is matched only if everything of it is. */
export function covers({ server, part }: AccessPattern, { kind, server: id, name }: AccessTarget): boolean {
  if (!matches(server, id)) return false;
  if (part.kind === "everything") return true;
  return part.kind === kind && (part.kind !== "tool" || matches(part.name, name));
}

/** Whether the pattern matches anything of this server. */
function concerns({ server }: AccessPattern, id: string): boolean {
  return matches(server, id);
}

/** The id of the one server that the pattern is for; undefined if it has a wildcard. */
export function serverNamedBy({ server }: AccessPattern): string | undefined {
  return server.length === 1 ? server[0] : undefined;
}

/** The one tool that the pattern is for; undefined if it has a wildcard or is for more than a tool. */
export function toolNamedBy({ part }: AccessPattern): string | undefined {
  return part.kind === "tool" && part.name.length === 1 ? part.name[0] : undefined;
}

/** Whether the pattern is `*`, or `*.*`, which means the same. */
export function isEverything({ server, part }: AccessPattern): boolean {
  return part.kind === "everything" && server.join("*") === "*";
}

/** `*` stands for any text. */
export function matchesName(pattern: string, name: string): boolean {
  return matches(namePattern(pattern), name);
}

function namePattern(text: string): NamePattern {
  return text.split("*");
}

/** Runs in linear time, because servers choose the names of their tools, and allocates nothing. */
function matches(parts: NamePattern, name: string): boolean {
  const [first = ""] = parts;
  const end = parts.length - 1;
  if (end === 0) return name === first;
  const last = parts[end] ?? "";
  if (!name.startsWith(first) || !name.endsWith(last)) return false;
  let at = first.length;
  for (let index = 1; index < end; index++) {
    const part = parts[index] ?? "";
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= name.length - last.length;
}

function invalidPattern(text: string): NexusError {
  return new NexusError("CONFIG_INVALID", `${JSON.stringify(text)} is not a valid policy pattern`, {
    phase: "config",
    hint: `A pattern starts with a server id, or with "*" for every server: "github", "github.search*", "*.delete*", "github/resources", "github/prompts", "github/methods", "*".`,
    mayHaveReached: false,
  });
}

/** Whether a pattern with this name means this tool and no other, and the name is what it looks like. */
export function isSafePattern(name: string): boolean {
  return !name.includes("*") && visible(name) === name && !/[^\S ]|\u2800/.test(name);
}
