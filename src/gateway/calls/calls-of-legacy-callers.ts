import type { CallOptions } from "../../client/conversation/call-scope.ts";
import { isInteractive } from "../../protocol/methods.ts";
import type { Result } from "../../protocol/json-rpc.ts";
import { AskingCaller } from "./asking-caller.ts";
import { hasTasks, mayBecomeTask, toolCall, type PreparedCall } from "../upstream/prepared-call.ts";
import { canonicalResult } from "../upstream/upstream-answer.ts";
import { canBeAsked } from "../upstream/upstream-capabilities.ts";
import { declaring, reportsTo } from "../upstream/upstream-reports.ts";

/** A legacy caller waits for its answer: it is asked on its stream, and tasks are followed by the gateway. */
export async function runForLegacyCaller(call: PreparedCall, answerMs: number): Promise<Result> {
  const { method, exchange, capabilities } = call;
  const options = reportsTo(exchange);
  options.signal = exchange.signal;
  options.input = declaring(capabilities);
  if (!isInteractive(method) || !canBeAsked(capabilities)) return await answer(call, options);
  const asking = new AskingCaller(call, answerMs);
  try {
    const result = await answer(call, { ...options, input: asking });
    asking.completed();
    return result;
  } finally {
    asking.close();
  }
}

async function answer(call: PreparedCall, options: CallOptions): Promise<Result> {
  const { method, params, lease } = call;
  const { client } = lease;
  if (hasTasks(call) && (await mayBecomeTask(call))) {
    return canonicalResult(client, method, await client.tasks.runCall(toolCall(call), options));
  }
  // A legacy server's error with URLs is passed on unchanged: callers of its revision know it.
  const hasRounds = client.era === "modern" && isInteractive(method);
  return canonicalResult(
    client,
    method,
    await (hasRounds ? client.call(method, params, options) : client.request(method, params, options)),
  );
}
