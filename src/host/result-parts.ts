import { isRecord } from "../json/is-record.ts";
import type { CallToolResult } from "../protocol/mcp.ts";
import { repeatsStructure, saysAll } from "../protocol/repeated-structure.ts";

/** A piece of a result that a model can read. */
export type ResultPart = { type: "text"; text: string } | { type: "media"; data: string; mediaType: string };

/** A tool's result for a model: texts, media, links, and structured data that the texts do not repeat. */
export function resultParts({ content, structuredContent }: CallToolResult): ResultPart[] {
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  const parts = blocks.map(contentPart);
  if (structuredContent === undefined) return parts;
  const text = JSON.stringify(structuredContent);
  if (!repeatsStructure(blocks, structuredContent)) return [...parts, { type: "text", text }];
  return parts.map((part) => {
    const isIndented = part.type === "text" && part.text.includes("\n");
    return isIndented && saysAll(part.text, structuredContent) ? { type: "text", text: unindented(part.text) } : part;
  });
}

/** The same JSON with fewer tokens. It is not read and written again: numbers of many digits would change. */
function unindented(json: string): string {
  return json.replaceAll(/("(?:[^"\\]|\\.)*")|\s+/g, "$1");
}

const UNKNOWN = "application/octet-stream";

/** One block of a result or of a prompt's message, which may be anything: what is not known is shown as JSON. */
function contentPart(block: unknown): ResultPart {
  const { type, text, data, mimeType, resource, uri, name } = isRecord(block) ? block : {};
  if (type === "text" && typeof text === "string") return { type: "text", text };
  if ((type === "image" || type === "audio") && typeof data === "string") {
    return { type: "media", data, mediaType: typeof mimeType === "string" ? mimeType : UNKNOWN };
  }
  if (type === "resource" && isRecord(resource)) return resourcePart(resource);
  if (type === "resource_link" && typeof uri === "string")
    return { type: "text", text: `${typeof name === "string" ? `${name}: ` : ""}${uri}` };
  return { type: "text", text: JSON.stringify(block) };
}

/** The contents of a resource. */
function resourcePart({ uri, text, blob, mimeType }: Record<string, unknown>): ResultPart {
  const address = typeof uri === "string" ? uri : "";
  if (typeof text === "string") return { type: "text", text: `${address}\n${text}` };
  if (typeof blob !== "string") return { type: "text", text: address };
  return { type: "media", data: blob, mediaType: typeof mimeType === "string" ? mimeType : UNKNOWN };
}
