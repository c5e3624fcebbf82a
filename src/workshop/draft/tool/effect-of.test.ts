import { expect, test } from "vitest";
import type { OperationFacts } from "../../documents/api-facts.ts";
import { effectOf } from "./effect-of.ts";

function operation(facts: Partial<OperationFacts>): OperationFacts {
  return {
    key: "POST /orders",
    method: "POST",
    path: "/orders",
    tags: [],
    deprecated: false,
    parameters: [],
    responses: [],
    security: [],
    evidence: "manual#L1",
    ...facts,
  };
}

test.each<[Partial<OperationFacts>, string]>([
  [{ effect: "read" }, "read"],
  [{ effect: "destructive" }, "destructive"],
  [{ method: "GET", effect: "write" }, "write"],
  // A sentence of a manual does not make these harmless.
  [{ method: "DELETE", effect: "read" }, "destructive"],
  [{ id: "deleteEverything", effect: "read" }, "destructive"],
  [{ path: "/orders/cancel", effect: "read" }, "destructive"],
  [{ id: "GetAndDelete" }, "destructive"],
  [{ id: "getOrDropItems", method: "GET" }, "destructive"],
  [{ id: "getAndDelete", effect: "read" }, "destructive"],
  [{ id: "orderCancel", effect: "read" }, "destructive"],
  ...["/deleteUser", "/users/delete/{id}", "/users/delete/", "/users/delete.json", "/users/remove.php"].map(
    (path): [Partial<OperationFacts>, string] => [{ method: "GET", path }, "destructive"],
  ),
  [{ path: "/remove_user/{id}" }, "destructive"],
  [{ method: "GET", path: "/messages/send/{id}" }, "write"],
  [{ method: "GET", path: "/cancel-reasons/{id}" }, "read"],
  [{ method: "GET", path: "/users/{deleteId}" }, "read"],
  [{ id: "checkAndSend" }, "write"],
  // A question about it is not the act.
  [{ id: "orderCanCancel", effect: "read" }, "read"],
  [{ id: "getDeletedOrders" }, "read"],
])("an operation that is described as %j is %s", (facts, effect) => {
  expect(effectOf(operation(facts))).toBe(effect);
});
