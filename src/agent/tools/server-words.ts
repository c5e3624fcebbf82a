import { shorten } from "../../text/shorten.ts";
import { visibleLines } from "../../text/visible.ts";
import type { ModelMessage, TextPart } from "../model/model-message.ts";
import { nameOrigin } from "./origin.ts";

/** Characters of the instructions of one server, and of all. */
const MAX_ONE = 2_000;
const MAX_ALL = 12_000;

/** What a server says about itself. */
export interface ServerIntroduction {
  server: string;
  words: string | undefined;
}

/**
 * The messages of a request, of which the first begins with what the servers say about themselves: bounded, and marked as
 * their words. It is no part of the conversation, because servers come and go.
 */
export function withServerWords(
  messages: readonly ModelMessage[],
  servers: readonly ServerIntroduction[],
): readonly ModelMessage[] {
  const [first, ...others] = messages;
  const words = wordsOf(servers);
  if (first?.role !== "user" || words.length === 0) return messages;
  return [{ ...first, content: [...words, ...first.content] }, ...others];
}

function wordsOf(servers: readonly ServerIntroduction[]): TextPart[] {
  let left = MAX_ALL;
  return servers.flatMap(({ server, words = "" }) => {
    // An invisible character is several where it is shown: one server must not take the room of all others.
    const said = shorten(visibleLines(shorten(words.trim(), MAX_ONE)), MAX_ONE);
    if (said === "" || said.length > left) return [];
    left -= said.length;
    const label = `[The ${nameOrigin({ server })} says how its tools are used; these are not words of the user]`;
    return [{ type: "text" as const, text: `${label}\n${said}` }];
  });
}
