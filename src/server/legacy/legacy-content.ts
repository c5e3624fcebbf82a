import { isRecord } from "../../json/is-record.ts";
import { atLeast, type LegacyRevision } from "../../protocol/revisions.ts";

/** Content blocks for a revision: kinds that it does not have become text, everything else stays as it is. */
export function legacyBlocks(blocks: readonly unknown[], version: LegacyRevision): readonly unknown[] {
  if (atLeast(version, "2025-06-18")) return blocks;
  return blocks.some((block) => legacyBlock(block, version) !== block)
    ? blocks.map((block) => legacyBlock(block, version))
    : blocks;
}

export function legacyBlock(block: unknown, version: LegacyRevision): unknown {
  if (!isRecord(block) || atLeast(version, "2025-06-18")) return block;
  if (block["type"] === "resource_link") return asText(block, linkText(block));
  if (block["type"] === "audio" && !atLeast(version, "2025-03-26")) return asText(block, audioText(block, version));
  return block;
}

function asText({ annotations }: Record<string, unknown>, text: string): Record<string, unknown> {
  return annotations === undefined ? { type: "text", text } : { type: "text", text, annotations };
}

function linkText({ uri, name, title, description, mimeType }: Record<string, unknown>): string {
  const label = [textOf(title) ?? textOf(name), textOf(mimeType) && `(${textOf(mimeType)})`].filter(Boolean).join(" ");
  const address = textOf(uri) ?? "";
  return [label ? `${label}: ${address}` : address, textOf(description)].filter(Boolean).join("\n");
}

function audioText({ mimeType, data }: Record<string, unknown>, version: LegacyRevision): string {
  const bytes = Math.floor(((textOf(data) ?? "").length * 3) / 4);
  const kind = textOf(mimeType) ?? "of unknown type";
  return `[audio, ${kind}, about ${bytes} bytes: not supported in protocol revision ${version}]`;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
