import type { CallToolResult, Content, ResourceContents } from "../protocol/mcp.ts";
import { repeatsStructure } from "../protocol/repeated-structure.ts";

/** A piece of a result that a model can read. */
export type ResultPart = { type: "text"; text: string } | { type: "media"; data: string; mediaType: string };

/** A tool's result for a model: texts, media, links, and structured data that the texts do not repeat. */
export function resultParts({ content, structuredContent }: CallToolResult): ResultPart[] {
  const blocks = Array.isArray(content) ? content : [];
  const parts = blocks.map(contentPart);
  if (structuredContent !== undefined && !blocks.some((block) => repeatsStructure(block, structuredContent))) {
    parts.push({ type: "text", text: JSON.stringify(structuredContent) });
  }
  return parts;
}

/** One block of a result or of a prompt's message. */
function contentPart(block: Content): ResultPart {
  const { type, text, data, mimeType, resource, uri, name } = block;
  if (type === "text" && typeof text === "string") return { type: "text", text };
  if ((type === "image" || type === "audio") && typeof data === "string") {
    return { type: "media", data, mediaType: mimeType ?? "application/octet-stream" };
  }
  if (type === "resource" && resource) return resourcePart(resource);
  if (type === "resource_link")
    return { type: "text", text: `${typeof name === "string" ? `${name}: ` : ""}${uri ?? ""}` };
  return { type: "text", text: JSON.stringify(block) };
}

/** The contents of a resource. */
function resourcePart({ uri, text, blob, mimeType }: ResourceContents): ResultPart {
  if (text !== undefined) return { type: "text", text: `${uri}\n${text}` };
  if (blob === undefined) return { type: "text", text: uri };
  return { type: "media", data: blob, mediaType: mimeType ?? "application/octet-stream" };
}
