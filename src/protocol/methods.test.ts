import { expect, test } from "vitest";
import {
  canBecomeTask,
  isAdded,
  isCacheable,
  isForwarded,
  isInputMethod,
  isInteractive,
  isOneHop,
  isRemoved,
  isRepeatable,
  itemsMember,
  LIST_METHODS,
  listRequestedBy,
  madeStaleBy,
  mayAskMeanwhile,
  namedMember,
  targetKind,
} from "./methods.ts";

const LISTS = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"];
const INPUT = ["roots/list", "sampling/createMessage", "elicitation/create"];
const REMOVED = [
  "initialize",
  "ping",
  "logging/setLevel",
  "resources/subscribe",
  "resources/unsubscribe",
  "tasks/result",
  "tasks/list",
];
const FORWARDED = [
  ...LISTS,
  "tools/call",
  "prompts/get",
  "resources/read",
  "completion/complete",
  "tasks/get",
  "tasks/update",
  "tasks/cancel",
];
const HOPS = ["server/discover", "subscriptions/listen", ...REMOVED, ...INPUT];
const ALL = [...FORWARDED, ...HOPS, "skills/list", "acme/own", "tasks/own", "constructor", "__proto__"];

const those = (has: (method: string) => unknown) => ALL.filter((method) => has(method));

test("a method of MCP is answered at one hop or forwarded, and an unknown one is neither", () => {
  expect(those(isOneHop)).toEqual(HOPS);
  expect(those(isForwarded)).toEqual(FORWARDED);
  expect(those(isInputMethod)).toEqual(INPUT);
  expect(those(isRemoved)).toEqual(REMOVED);
  expect(those(isAdded)).toEqual(["tasks/update", "server/discover", "subscriptions/listen"]);
});

test("only a few methods may ask for input or become a task", () => {
  expect(those(isInteractive)).toEqual(["tools/call", "prompts/get", "resources/read"]);
  expect(those(mayAskMeanwhile)).toEqual(["tools/call", "prompts/get", "resources/read", "tasks/result"]);
  expect(those(canBecomeTask)).toEqual(["tools/call"]);
});

test("what can be cached can be repeated, and an unknown method can be neither", () => {
  const cacheable = [...LISTS, "resources/read", "server/discover"];
  const others = ["prompts/get", "completion/complete", "tasks/get", "subscriptions/listen"];
  const read = ["ping", "tasks/result", "tasks/list", "skills/list"];
  expect(those(isCacheable).toSorted()).toEqual(cacheable.toSorted());
  expect(those(isRepeatable).toSorted()).toEqual([...cacheable, ...others, ...read].toSorted());
});

test("Mcp-Name repeats the name, the URI or the task of a modern request", () => {
  expect(those(namedMember).map((method) => [method, namedMember(method)])).toEqual([
    ["tools/call", "name"],
    ["prompts/get", "name"],
    ["resources/read", "uri"],
    ["tasks/get", "taskId"],
    ["tasks/update", "taskId"],
    ["tasks/cancel", "taskId"],
  ]);
});

test("an unknown method is treated as a method that may do anything", () => {
  const unknown = [...INPUT, "skills/list", "acme/own", "tasks/own", "constructor", "__proto__"];
  expect(those((method) => targetKind(method) === "method")).toEqual(unknown);
});

test("each list is requested by one method, and its items are in the member of its name", () => {
  for (const [kind, method] of Object.entries(LIST_METHODS)) {
    expect([listRequestedBy(method), itemsMember(method)]).toEqual([kind, kind]);
  }
  expect(those(listRequestedBy)).toEqual(LISTS);
  expect(those(itemsMember)).toEqual([...LISTS, "tasks/list", "skills/list"]);
});

test("a change makes outdated what it may have changed", () => {
  expect(madeStaleBy("notifications/resources/list_changed")).toEqual(["resources/list", "resources/templates/list"]);
  expect(madeStaleBy("notifications/resources/updated")).toEqual(["resources/read"]);
  expect(madeStaleBy("notifications/progress")).toEqual([]);
});
