import { expect, test } from "vitest";
import type { View } from "../names/view.ts";
import { ANYBODY } from "../../server/core/principal.ts";
import type { CallRunner, UpstreamCall } from "./upstream-call.ts";
import { taskNotice } from "./notice-of-task.ts";

const asked: UpstreamCall[] = [];
const result = { content: [{ type: "resource_link", uri: "test://a" }] };
const calls: CallRunner = {
  run: async (call) => {
    asked.push(call);
    return { resultType: "complete", taskId: call.params["taskId"], status: "completed", ttlMs: 1, result };
  },
  lease: () => Promise.reject(new Error("not needed")),
  findTask: () => undefined,
  takeConsent: () => false,
  release() {},
};

function noticeOf(method: string, view: View) {
  const request = { view, principal: ANYBODY, owner: "me", capabilities: {}, interests: {}, onChange() {} };
  const params = { taskId: "theirs", status: "completed", _meta: { "io.modelcontextprotocol/subscriptionId": 1 } };
  const its = method === "notifications/tasks" ? { ...params, result } : params;
  return taskNotice({ jsonrpc: "2.0", method, params: its }, { server: "kit", taskId: "ours", request, calls });
}

test("a modern server's notification is passed on with the caller's id and names", async () => {
  expect(await noticeOf("notifications/tasks", { kind: "one", server: "kit" })).toEqual({
    jsonrpc: "2.0",
    method: "notifications/tasks",
    params: { taskId: "ours", status: "completed", result },
  });
  expect(await noticeOf("notifications/tasks", { kind: "all" })).toMatchObject({
    params: { taskId: "ours", result: { content: [{ uri: "kit+test://a" }] } },
  });
  expect(asked).toEqual([]);
});

test("a legacy server reports only the status: the caller gets the complete task", async () => {
  expect(await noticeOf("notifications/tasks/status", { kind: "all" })).toEqual({
    jsonrpc: "2.0",
    method: "notifications/tasks",
    params: {
      taskId: "ours",
      status: "completed",
      ttlMs: 1,
      result: { content: [{ type: "resource_link", uri: "kit+test://a" }] },
    },
  });
  expect(asked).toMatchObject([{ method: "tasks/get", params: { taskId: "ours" } }]);
});
