import type { Host } from "../../host/host.ts";
import { contextBlocks, type ContextOptions } from "../../host/registry.ts";
import type { ModelMessage, TextPart } from "../model/model-message.ts";
import { originLine } from "./origin.ts";

const READ_MS = 5_000;
/** For all resources together: a message does not wait longer for its context. */
const ALL_MS = 10_000;

/** Important resources for the next message: those that are not in the conversation yet, or have changed since. */
export async function contextParts(
  host: Host,
  options: ContextOptions,
  messages: readonly ModelMessage[],
): Promise<TextPart[]> {
  const texts = messages
    .flatMap((message) => (message.role === "user" ? message.content : []))
    .flatMap((part) => (part.type === "text" ? [part.text] : []));
  const late = AbortSignal.timeout(ALL_MS);
  const signal = options.signal ? AbortSignal.any([options.signal, late]) : late;
  const blocks = await contextBlocks(host, { timeoutMs: READ_MS, ...options, signal });
  const byLabel = new Map<string, string[]>();
  for (const { server, uri, text } of blocks) {
    const label = `${originLine({ server, resource: uri })}\n`;
    byLabel.set(label, [...(byLabel.get(label) ?? []), text]);
  }
  return [...byLabel].flatMap(([label, contents]) => {
    const text = label + contents.join("\n");
    const isKnown = texts.findLast((each) => each.startsWith(label)) === text;
    return isKnown ? [] : [{ type: "text" as const, text }];
  });
}
