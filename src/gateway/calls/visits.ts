import { abortSignalOf } from "../../async/cancellation.ts";
import { urlQuestions } from "../../client/conversation/rounds.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import type { InputRequest } from "../../protocol/mcp.ts";
import { canonicalResult } from "../upstream/upstream-answer.ts";
import type { PreparedCall } from "../upstream/prepared-call.ts";
import type { Work } from "./parked-call.ts";

/**
 * Sends a request to a legacy server. A server of 2025-11-25 can refuse it until the user has visited a page. It has
 * not run then: the caller is asked to visit the page, and the request is sent again.
 */
export function untilVisited({ server, method, params, capabilities, lease: { client } }: PreparedCall): Work {
  return async (options) => {
    for (;;) {
      try {
        return canonicalResult(client, method, await client.request(method, params, options));
      } catch (error) {
        const visits = error instanceof NexusError ? urlQuestions(error) : undefined;
        if (!visits || !capabilities.elicitation?.url || options.signal.aborted) throw error;
        const signal = abortSignalOf(options.signal);
        const answers = Object.entries(visits).map(async ([key, visit]) =>
          options.input.handle(visit as InputRequest, { server, key, signal }),
        );
        if ((await Promise.all(answers)).every((answer) => isRecord(answer) && answer["action"] === "accept")) continue;
        throw new NexusError("INPUT_FAILED", `The user must open a page first: ${(error as NexusError).message}`, {
          cause: error,
          mayHaveReached: true,
        });
      }
    }
  };
}
