import type { ToolAnnotations } from "../protocol/mcp.ts";

/** Who may see and use what. Everything here can only narrow what a server's own entry allows. */
export interface PolicySettings {
  /** Names or patterns with `*` of tools as `server.tool`; where given, nothing else is allowed. */
  allow?: readonly string[] | undefined;
  deny?: readonly string[] | undefined;
  /** Only tools that call themselves read-only. */
  readOnly?: boolean | undefined;
  /** Which agents see a server; one that is not named is seen by all. */
  visibleTo?: Readonly<Record<string, readonly string[]>> | undefined;
  /** Asked before a tool that may have effects is called; false denies it. Without it such tools are called. */
  consent?: ((request: ConsentRequest) => boolean | Promise<boolean>) | undefined;
}

export interface ConsentRequest {
  server: string;
  tool: string;
  arguments: unknown;
  annotations: ToolAnnotations | undefined;
  agent: string | undefined;
  /** Fires when the call is no longer wanted: there is nothing to consent to then. */
  signal: AbortSignal | undefined;
}

export interface Target {
  server: string;
  tool: string;
  annotations?: ToolAnnotations | undefined;
  /** The server's own allow and deny lists. */
  own: { allow?: readonly string[]; deny?: readonly string[] };
}

export type Decision = { kind: "allowed" } | { kind: "needs-consent" } | { kind: "denied"; reason: string };

/** Whether this agent sees a server at all: its tools, resources and prompts. */
export function isVisible({ visibleTo }: PolicySettings, server: string, agent: string | undefined): boolean {
  const agents = visibleTo && Object.hasOwn(visibleTo, server) ? visibleTo[server] : undefined;
  return !agents || (agent !== undefined && agents.includes(agent));
}

/** The one decision for listing and calling alike. */
export function decide(settings: PolicySettings, target: Target, agent: string | undefined): Decision {
  const { server, tool, annotations, own } = target;
  const fullName = `${server}.${tool}`;
  if (!isVisible(settings, server, agent)) return denied("the server is not shared with this agent");
  if (own.deny?.some((pattern) => matches(pattern, tool))) return denied("the server's entry denies it");
  if (own.allow && !own.allow.some((pattern) => matches(pattern, tool)))
    return denied("the server's entry does not allow it");
  if (settings.deny?.some((pattern) => matches(pattern, fullName))) return denied("it is on the deny list");
  if (settings.allow && !settings.allow.some((pattern) => matches(pattern, fullName)))
    return denied("it is not on the allow list");
  if (settings.readOnly && annotations?.readOnlyHint !== true) return denied("only read-only tools are allowed");
  return settings.consent && annotations?.readOnlyHint !== true ? { kind: "needs-consent" } : { kind: "allowed" };
}

function denied(reason: string): Decision {
  return { kind: "denied", reason };
}

/** In one pass over the name: servers choose the names of their tools, and may choose them to be slow. */
function matches(pattern: string, name: string): boolean {
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first) || !name.endsWith(last)) return false;
  const end = name.length - last.length;
  let at = first.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= end;
}
