import { setTimeout as pause } from "node:timers/promises";
import type { Notification, Params, Result } from "../../src/protocol/json-rpc.ts";
import type { Question } from "../../src/protocol/mcp.ts";
import { TASKS_EXTENSION } from "../../src/protocol/meta.ts";
import { atLeast, type Revision } from "../../src/protocol/revisions.ts";

export interface PartyCall {
  signal?: AbortSignal | undefined;
  /** Asks for progress. */
  onProgress?: ((params: Params) => void) | undefined;
  /** Wants the server's log messages from this level on. */
  logLevel?: "info" | undefined;
}

/** A client as the matrix uses it: it answers what it is asked, and remembers what it is told. */
export interface Party extends AsyncDisposable {
  readonly told: Notification[];
  /** The final result, after all rounds; an error of JSON-RPC rejects. */
  call(method: string, params: Params, options?: PartyCall): Promise<Result>;
  /** Hears about changes of the tools, or of a resource, from now on. */
  watch(what: { tools?: true; uri?: string }): Promise<void>;
}

/** What a party answers: with a mark by which the server's transcript shows that it got there. */
export class Answers {
  mark = "";

  to({ method, params }: Question): Params {
    switch (method) {
      case "sampling/createMessage":
        return { role: "assistant", model: "matrix", content: { type: "text", text: this.mark } };
      case "roots/list":
        return { roots: [{ uri: `file:///${this.mark}`, name: "root" }] };
      case "elicitation/create":
        if (params?.["mode"] === "url") return { action: "accept" };
        return { action: "accept", content: { username: this.mark, email: "ada@example.com" } };
      default:
        throw new Error(`Nobody expected ${method}`);
    }
  }
}

/** What a client of a revision can declare. */
export function capabilitiesOf(revision: Revision): Params {
  const capabilities: Params = { sampling: {}, roots: {} };
  if (atLeast(revision, "2025-06-18")) capabilities["elicitation"] = {};
  if (atLeast(revision, "2025-11-25")) capabilities["elicitation"] = { form: {}, url: {} };
  if (atLeast(revision, "2026-07-28")) capabilities["extensions"] = { [TASKS_EXTENSION]: {} };
  return capabilities;
}

const PATIENCE_MS = 8000;
const STEP_MS = 5;

/** Waits until it holds; says what did not. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`Not seen: ${what}`);
    await pause(STEP_MS);
  }
}
