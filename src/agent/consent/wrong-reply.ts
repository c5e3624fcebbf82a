import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import { shorten } from "../../text/shorten.ts";
import { visible } from "../../text/visible.ts";

/**
 * A handler of the program returned something that is not a reply, which no compiler prevents in JavaScript. It allows
 * nothing, and the error tells the programmer. `handler`: `"ask" of ConsentDesk`; `allowed`: the replies, as code.
 */
export function wrongReply(
  handler: string,
  received: unknown,
  allowed: readonly string[],
  shown: string = shownReply(received),
): NexusError {
  const replies = `${allowed.slice(0, -1).join(", ")} or ${allowed.at(-1) ?? ""}`;
  const message = `The handler ${handler} returned ${shown}. It has to return ${replies}`;
  return new NexusError("ARGUMENTS_INVALID", message);
}

/** Of objects only what decides, and the names of the rest: values of a form are not for models and logs. */
function shownReply(value: unknown): string {
  if (typeof value === "string") return visible(JSON.stringify(shorten(value, 40)));
  if (Array.isArray(value)) return "an array";
  if (!isRecord(value)) return typeof value === "function" ? "a function" : String(value);
  const members = Object.entries(value).map(([name, member]) =>
    (name === "action" || name === "kind") && typeof member === "string" ? `${name}: ${shownReply(member)}` : name,
  );
  return visible(shorten(`{ ${members.join(", ")} }`, 80));
}
