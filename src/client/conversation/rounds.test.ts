import { expect, test } from "vitest";
import { NexusError } from "../../errors/nexus-error.ts";
import type { Params, Result } from "../../protocol/json-rpc.ts";
import type { InputRequiredResult, InputResult } from "../../protocol/mcp.ts";
import { URL_ELICITATION_REQUIRED } from "../../protocol/meta.ts";
import { CallScope, type CallOptions } from "./call-scope.ts";
import { Deadlines } from "../../async/deadlines.ts";
import { InputDesk } from "./input.ts";
import { runRounds } from "./rounds.ts";

const FORM = { message: "Who?", requestedSchema: { type: "object", properties: {} } };
const ASKS: InputRequiredResult = {
  resultType: "input_required",
  inputRequests: { who: { method: "elicitation/create", params: FORM } },
  requestState: "sealed",
};

/** Runs a call whose exchanges are answered by `server`; what was sent is kept. */
async function run(
  server: (params: Params) => Result,
  { handle, ...options }: CallOptions & { handle: () => InputResult },
) {
  const sent: Params[] = [];
  const desk = new InputDesk("s", { capabilities: { elicitation: { form: {}, url: {} } }, handle }, undefined);
  const deadlines = new Deadlines();
  const scope = new CallScope({ method: "tools/call" }, options, { deadlines, timeoutMs: 5_000 });
  const exchange = async (params: Params) => {
    sent.push(params);
    return server(params);
  };
  const outcome = await runRounds({ name: "t" }, { exchange, desk, scope, maxRounds: 3 }).catch(
    (error: unknown) => error,
  );
  scope.finish();
  return { sent, outcome };
}

test("an unanswered question leaves what is needed to continue the call", async () => {
  const refuse = () => {
    throw new Error("nobody is there");
  };
  const { outcome } = await run(() => ASKS, { handle: refuse });
  expect(outcome).toMatchObject({ code: "INPUT_FAILED", details: { raw: ASKS } });
});

test("a call continues from its earlier questions and is not sent again first", async () => {
  const done = { content: [] };
  const { sent, outcome } = await run(() => done, { handle: () => ({ action: "accept" }), resume: ASKS });
  expect(outcome).toBe(done);
  expect(sent).toEqual([{ name: "t", inputResponses: { who: { action: "accept" } }, requestState: "sealed" }]);
});

test("a page that the user declines to visit is asked for once, and the server's error is thrown", async () => {
  const elicitations = [{ mode: "url", url: "https://example.com", message: "Go", elicitationId: "1" }];
  const rpc = { code: URL_ELICITATION_REQUIRED, message: "Go there first", data: { elicitations } };
  const refusal = new NexusError("SERVER_ERROR", rpc.message, { rpc });
  const server = () => {
    throw refusal;
  };
  const { sent, outcome } = await run(server, { handle: () => ({ action: "decline" }) });
  expect({ outcome, times: sent.length }).toEqual({ outcome: refusal, times: 1 });
});
