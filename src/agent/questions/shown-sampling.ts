import { isRecord } from "../../json/is-record.ts";
import type { Content, SamplingMessage } from "../../protocol/mcp.ts";
import { visible, visibleJson, visibleLines } from "../../text/visible.ts";
import { cutMiddle } from "../consent/shown-json.ts";
import { invalidSampling } from "./sampling-failure.ts";
import { blocksOf } from "./sampling-messages.ts";
import type { SamplingParams, SamplingQuestion } from "./sampling-question.ts";
import { textOfMedia } from "./text-media.ts";

/** What a server's request asks the model for, for people: nothing in it is hidden. */
type ShownSampling = Pick<
  SamplingQuestion,
  "system" | "messages" | "tools" | "temperature" | "stopSequences" | "request"
>;

const MAX_SYSTEM = 2_000;
const MAX_MESSAGES = 6_000;
const MAX_TOOLS = 4_000;
const MAX_DESCRIPTION = 500;
const MAX_SCHEMA = 200;
const MAX_STOPS = 500;

/** Throws INPUT_FAILED if the messages are not valid. */
export function shownSampling(params: SamplingParams): ShownSampling {
  const { systemPrompt, temperature } = params;
  const system = typeof systemPrompt === "string" ? visibleLines(systemPrompt) : undefined;
  const messages = messagesOf(params.messages).map(shownMessage);
  const stops = stopsOf(params);
  const parts = [
    ...(system === undefined || system === "" ? [] : [part("system", system, MAX_SYSTEM)]),
    shortened(messages.map(({ role, text }) => `${role}: ${text}`).join("\n"), MAX_MESSAGES),
    ...toolParts(params),
    ...(stops.length > 0 ? [part("stop at", stops.map(jsonText).join(", "), MAX_STOPS)] : []),
    ...(typeof temperature === "number" ? [part("temperature", String(temperature), MAX_STOPS)] : []),
  ];
  const text = parts.map((each) => each.text).join("\n");
  const whole = parts.map((each) => each.whole).join("\n");
  return {
    system,
    messages,
    tools: toolsOf(params).map((tool) => nameOf(tool)),
    temperature: typeof temperature === "number" ? temperature : undefined,
    stopSequences: stops.map(visible),
    request: { text, isShortened: text !== whole, whole },
  };
}

/** The stop sequences that are sent: providers refuse empty ones. */
export function stopsOf({ stopSequences }: SamplingParams): string[] {
  return Array.isArray(stopSequences) ? stopSequences.filter((text) => typeof text === "string" && text !== "") : [];
}

export function jsonText(value: unknown): string {
  return visibleJson(JSON.stringify(value) ?? "");
}

interface Part {
  text: string;
  whole: string;
}

function part(label: string, text: string, most: number): Part {
  const { text: short, whole } = shortened(text, most);
  return { text: `${label}: ${short}`, whole: `${label}: ${whole}` };
}

function shortened(whole: string, most: number): Part {
  return { text: cutMiddle(whole, most), whole };
}

/** Models follow the descriptions of tools, also those inside of schemas, like any other text. */
function toolParts(params: SamplingParams): Part[] {
  const tools = toolsOf(params);
  if (tools.length === 0) return [];
  const shown = tools.map((tool) => {
    const { description, inputSchema } = isRecord(tool) ? tool : {};
    const about = typeof description === "string" ? visibleLines(description) : "";
    const parts = [
      part(`tool ${nameOf(tool)}`, about, MAX_DESCRIPTION),
      part("schema", jsonText(inputSchema), MAX_SCHEMA),
    ];
    return { text: parts.map(({ text }) => text).join("\n"), whole: parts.map(({ whole }) => whole).join("\n") };
  });
  const mode = isRecord(params.toolChoice) ? params.toolChoice["mode"] : undefined;
  return [
    {
      text: cutMiddle(shown.map(({ text }) => text).join("\n"), MAX_TOOLS),
      whole: shown.map(({ whole }) => whole).join("\n"),
    },
    ...(typeof mode === "string" ? [part("use of tools", visible(mode), MAX_STOPS)] : []),
  ];
}

function toolsOf({ tools }: SamplingParams): readonly unknown[] {
  return Array.isArray(tools) ? tools : [];
}

function nameOf(tool: unknown): string {
  return visible(isRecord(tool) ? String(tool["name"]) : "?");
}

function messagesOf(messages: unknown): SamplingMessage[] {
  if (!Array.isArray(messages)) throw invalidSampling("it has no messages");
  return messages as SamplingMessage[];
}

function shownMessage(message: SamplingMessage): { role: string; text: string } {
  return { role: message.role, text: blocksOf(message).map(shownBlock).join("\n") };
}

function shownBlock(block: Content): string {
  const { type, text, data, mimeType, name, input, content, resource, uri } = block;
  if (type === "text" && typeof text === "string") return visibleLines(text);
  if (type === "tool_use") return visible(`[calls ${String(name)}] `) + jsonText(input);
  if (type === "tool_result") {
    const inner = Array.isArray(content) ? content.filter(isRecord).map((each) => shownBlock(each as Content)) : [];
    const { structuredContent: structured } = block;
    if (inner.length === 0 && structured !== undefined) inner.push(jsonText(structured));
    return `[result of a tool] ${inner.join("\n")}`;
  }
  if (type === "resource" && isRecord(resource)) {
    if (typeof resource.text === "string") return visibleLines(resource.text);
    return shownMedia("resource", resource.blob, resource.mimeType);
  }
  if (type === "resource_link" && typeof uri === "string") return visible(`[link] ${uri}`);
  return shownMedia(type, data, mimeType);
}

/** What it is; a text also as the model reads it. */
function shownMedia(type: string, data: unknown, mimeType: unknown): string {
  const kind = `${type}${typeof mimeType === "string" ? ` ${mimeType}` : ""}`;
  if (typeof data !== "string") return visible(`[${kind}]`);
  const label = visible(`[${kind}, ${Buffer.byteLength(data, "base64")} bytes]`);
  const text = typeof mimeType === "string" ? textOfMedia({ type: "media", data, mediaType: mimeType }) : undefined;
  return text === undefined ? label : `${label} ${visibleLines(text)}`;
}
