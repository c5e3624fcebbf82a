import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { maskUrl, maskWords } from "../../masking/mask-words.ts";
import { sha256 } from "../../text/digest.ts";
import { visible } from "../../text/visible.ts";
import { cutMiddle } from "./shown-json.ts";

const MAX_REACH = 500;

/** Where a server comes from, for people. */
export interface ServerProvenance {
  /** Its command, URL or tool file, without secrets. */
  reach: string;
  /** `mcp.json:12`; undefined for a server that a program passes in. */
  file: string | undefined;
}

export function serverProvenance(definition: ServerDefinition): ServerProvenance {
  const { origin } = definition;
  return {
    reach: visible(cutMiddle(reachOf(definition), MAX_REACH)),
    file: origin && visible(`${origin.file}:${origin.line}`),
  };
}

/** As written, because resolved variables may be secret. */
function reachOf({ written, entry, transport }: ServerDefinition): string {
  const asWritten = written?.command ?? written?.url;
  if (asWritten !== undefined) return asWritten;
  if (!entry) return transport ? "in this program" : "unknown";
  const { reach } = entry;
  switch (reach.kind) {
    case "stdio":
      return maskWords([reach.command, ...reach.args]).join(" ");
    case "http":
    case "sse":
      return maskUrl(reach.url);
    case "api":
      return reach.file;
  }
}

/**
 * Identifies what the entry of a server starts or connects to: its command with environment, its URL with headers, or its
 * tool file. A digest, because there are secrets in it. Undefined for a server without an entry.
 */
export function entryIdentity({ entry }: ServerDefinition): string | undefined {
  return entry && sha256(JSON.stringify(entry.reach));
}
