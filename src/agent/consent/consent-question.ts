import type { ToolAnnotations } from "../../protocol/mcp.ts";
import type { ShownJson } from "./shown-json.ts";

/** A question to a person: may this call be made? Texts of servers and models in it are safe to show. */
export interface ConsentQuestion {
  server: string;
  /** The name at its server; `call_tool → delete_page` for a tool that calls another one. */
  tool: string;
  arguments: ShownJson;
  /** What the server says about its tool; nothing proves it. */
  annotations: Pick<ToolAnnotations, "title" | "readOnlyHint" | "destructiveHint" | "idempotentHint" | "openWorldHint">;
  /** Where the server comes from; undefined if it is not known. */
  provenance: ServerProvenance | undefined;
  /** Whether `always` can be remembered; otherwise it counts for this session. */
  canRemember: boolean;
}

/** `once`: this call; `session`: this tool until the program ends; `always`: this tool, also later. */
export type ConsentReply = "once" | "session" | "always" | "no";

/** Asks a person. Aborting the signal ends the question; throwing means no. */
export type ConsentAsker = (question: ConsentQuestion, signal: AbortSignal) => Promise<ConsentReply>;

/** Where a server comes from, for people. */
export interface ServerProvenance {
  /** Its command, URL or tool file, without secrets. */
  reach: string;
  /** `mcp.json:12`; undefined for a server that a program passes in. */
  file: string | undefined;
}
