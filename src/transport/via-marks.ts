import { NexusError } from "../errors/nexus-error.ts";
import { shortName } from "../text/digest.ts";
import type { StdioReach } from "./server-entry.ts";

/** The gateways and entries through which a process was started; in the environment of every child. */
export const VIA_VARIABLE = "NEXUS_VIA";
/** The gateways through which a request came. */
export const VIA_HEADER = "nexus-via";

/** More processes that start each other are a circle with changing entries. */
const MAX_STARTS = 16;
/** Maximum number of marks in a variable or header, which others may write. */
const MAX_MARKS = 64;
const GATEWAY = /^[0-9a-f]{12}$/;
const ENTRY = /^=/;
const MARK = /^=?[0-9a-f]{12}$/;
/** Variables that decide which configuration a program finds. Others may be secret and are left out of a mark. */
const STEERING = /^(?:HOME|USERPROFILE|APPDATA|XDG_\w+|NEXUS_\w+)$/i;

type Variables = Readonly<Record<string, string | undefined>>;

/** The ids of gateways in a header or the variable. */
export function gatewaysIn(text: unknown): string[] {
  return marksIn(text).filter((mark) => GATEWAY.test(mark));
}

function marksIn(text: unknown): string[] {
  if (typeof text !== "string") return [];
  const marks = text.split(/[\s,]+/, MAX_MARKS);
  return marks.filter((mark) => MARK.test(mark));
}

/**
 * The variable for a child: the gateways and entries that led to it. Throws if this entry is already among them and a
 * gateway starts it; a command that a person runs inside a server may use that server.
 */
export function markOf(reach: StdioReach, variables: Variables, gateways: readonly string[]): Record<string, string> {
  const inherited = marksIn(variables[VIA_VARIABLE]);
  const own = entryMark(reach);
  if (gateways.length > 0 && inherited.includes(own)) throw startsItself();
  if (inherited.filter((mark) => ENTRY.test(mark)).length >= MAX_STARTS) throw tooManyStarts();
  const others = gateways.filter((id) => !inherited.includes(id));
  return { [VIA_VARIABLE]: [...inherited, own, ...others].join(" ") };
}

/** Whether this process was started by this entry, directly or indirectly. */
export function isStartedBy(reach: StdioReach, variables: Variables): boolean {
  return marksIn(variables[VIA_VARIABLE]).includes(entryMark(reach));
}

/** The same in every process that reads the same entry. */
function entryMark({ command, args, cwd, env }: StdioReach): string {
  const names = Object.keys(env).filter((name) => STEERING.test(name));
  const steering = names.toSorted().map((name) => [name, env[name]]);
  return `=${shortName(JSON.stringify([command, args, cwd ?? "", steering])).slice(0, 12)}`;
}

export function startsItself(): NexusError {
  return new NexusError(
    "CONFIG_INVALID",
    "This entry starts the gateway that reads it, which would start itself again",
    {
      phase: "config",
      likelyCause: "The gateway is its own server, directly or through another gateway.",
      hint: `Remove this entry, or use a separate configuration for the inner gateway: "args": ["serve", "--stdio", "--config", FILE].`,
      mayHaveReached: false,
    },
  );
}

function tooManyStarts(): NexusError {
  return new NexusError("CONFIG_INVALID", `${MAX_STARTS} servers have started each other in a chain`, {
    phase: "config",
    likelyCause: "Gateways are configured as each other's servers, in a loop.",
    hint: "Remove one of the entries of the loop.",
    mayHaveReached: false,
  });
}
