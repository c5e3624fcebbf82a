import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { fullName } from "../../gateway/names/names.ts";
import { joinFirst } from "../../text/shorten.ts";

/** The longest tool name that all large model providers accept. */
const MAX_NAME = 64;

/** Names that are too long for models at the gateway, where they begin with their server, and how to fix that. */
export function longNames(
  { id, prefix = id }: Pick<ServerDefinition, "id" | "prefix">,
  names: readonly string[],
): { evidence: string; advice: string } | undefined {
  const long = names.filter((name) => fullName(prefix, name).length > MAX_NAME);
  if (long.length === 0) return undefined;
  const shown = long.map((name) => `${fullName(prefix, name)} (${fullName(prefix, name).length})`);
  const room = MAX_NAME - Math.max(...long.map((name) => fullName("", name).length));
  return {
    evidence: `names over ${MAX_NAME} characters at the gateway, which some model providers reject: ${joinFirst(shown, 3)}`,
    advice:
      room < 1
        ? `The server's author must shorten them. Until then, hide them with "tools": { "deny": […] }.`
        : `Set a shorter prefix in the server's entry: "prefix": "${shorter(id, room)}".`,
  };
}

/** The first letters of its words, or of its only word. */
function shorter(id: string, room: number): string {
  const words = id.split("-").filter((word) => word !== "");
  const initials = words.length > 1 ? words.map((word) => word.slice(0, 1)).join("") : id.slice(0, 2);
  return initials.slice(0, room);
}
