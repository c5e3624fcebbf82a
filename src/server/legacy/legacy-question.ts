import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Params } from "../../protocol/json-rpc.ts";
import type { ClientCapabilities, Question } from "../../protocol/mcp.ts";
import { META } from "../../protocol/meta.ts";
import { isDeclared } from "../../protocol/question-capabilities.ts";
import { atLeast, type LegacyRevision } from "../../protocol/revisions.ts";
import { olderForm } from "./legacy-form.ts";
import { withoutReservedMeta } from "../core/request-meta.ts";

/** Who is asked. */
export interface AskedClient {
  version: LegacyRevision;
  capabilities: ClientCapabilities;
  /** Whether a question may belong to a task of this revision. */
  runsTasks?: boolean;
}

/** A question as its client can be asked it, and how the answer is read, where it is asked in another form. */
export interface LegacyQuestion extends Question {
  original?: (content: Params) => Params;
}

/** Throws where the client cannot be asked: it did not declare it, or its revision has no way to. */
export function legacyQuestion(question: Question, client: AskedClient): LegacyQuestion {
  if (!isDeclared(question, client.capabilities)) throw unsupported(nameOf(question));
  const { method, params = {} } = question;
  const own = withoutReservedMeta(params, client.runsTasks ? META.relatedTask : undefined);
  switch (method) {
    case "elicitation/create":
      return elicitation(own, client);
    case "sampling/createMessage":
      return { method, params: sampling(own, client) };
    default:
      return Object.keys(own).length > 0 ? { method, params: own } : { method };
  }
}

/** With what a client may lack while it has the rest. */
function nameOf({ method, params }: Question): string {
  if (method === "elicitation/create") return `${method} with a ${params?.["mode"] === "url" ? "URL" : "form"}`;
  return method === "sampling/createMessage" && params?.["tools"] !== undefined ? `${method} with tools` : method;
}

function elicitation(params: Params, { version }: AskedClient): LegacyQuestion {
  const method = "elicitation/create";
  if (params["mode"] === "url") return { method, params };
  if (atLeast(version, "2025-11-25")) return { method, params: { ...params, mode: "form" } };
  const { mode: _, ...older } = params;
  const { schema, original } = olderForm(params["requestedSchema"]);
  return { method, params: { ...older, requestedSchema: schema }, original };
}

function sampling(params: Params, { version }: AskedClient): Params {
  const { messages } = params;
  if (atLeast(version, "2025-11-25") || !Array.isArray(messages)) return params;
  return { ...params, messages: (messages as unknown[]).flatMap((message) => olderMessages(message, version)) };
}

/** Before 2025-11-25 a message has one block of content: several become as many messages of the same speaker. */
function olderMessages(message: unknown, version: LegacyRevision): unknown[] {
  if (!isRecord(message)) return [message];
  const { content } = message;
  const blocks: unknown[] = Array.isArray(content) ? content : [content];
  for (const block of blocks) {
    const type = isRecord(block) ? block["type"] : undefined;
    const isTool = type === "tool_use" || type === "tool_result";
    if (isTool || (type === "audio" && !atLeast(version, "2025-03-26"))) {
      throw unsupported(`sampling/createMessage with ${type}`);
    }
  }
  return Array.isArray(content) ? blocks.map((block) => ({ ...message, content: block })) : [message];
}

function unsupported(what: string): NexusError {
  return new NexusError("CAPABILITY_MISSING", `The client does not support ${what}`);
}
