import type { ElicitResult } from "../../protocol/mcp.ts";
import type { FormField } from "./form-field.ts";

/** A form that a server wants a person to fill in. Texts in it come from the server: make them visible where they are shown. */
export interface FormQuestion {
  server: string;
  message: string;
  fields: readonly FormField[];
  /** Names of fields that seem to ask for a password or another secret, which servers must not do in forms. */
  secrets: readonly string[];
}

/** `secretsConfirmed`: the person was warned and wants to send the values of `secrets` nevertheless. */
export type FormReply =
  | { action: "accept"; content: Readonly<Record<string, unknown>>; secretsConfirmed?: boolean | undefined }
  | { action: "decline" | "cancel" };

/** A web page that a server wants a person to visit. */
export interface PageQuestion {
  server: string;
  message: string;
  /** As a browser reads it; only `http:` and `https:`. */
  url: URL;
}

/** Shows the questions of servers to a person. Aborting the signal ends a question; throwing declines it. */
export interface ElicitationHandler {
  /** Without it, servers cannot ask with forms. */
  fillForm?(question: FormQuestion, signal: AbortSignal): Promise<FormReply>;
  /** Must show the host and ask before anything is opened. Without it, servers cannot ask to visit pages. */
  visitPage?(question: PageQuestion, signal: AbortSignal): Promise<ElicitResult["action"]>;
}
