import { expect, test } from "vitest";
import { RepeatedRequests } from "./repeated-requests.ts";

test("one tenant with many keys does not make the answers of another tenant be forgotten", async () => {
  const repeated = new RepeatedRequests();
  let handled = 0;
  const post = (tenant: string, id: string, key: string) =>
    repeated.run({ principal: { tenant, id }, key, content: [] }, async () => {
      handled++;
      return { status: 201, headers: [], body: "" };
    });
  await post("calm", "key", "first");
  for (let owner = 0; owner < 26; owner++) {
    for (let count = 0; count < 200; count++) await post("busy", `key ${owner}`, `request ${count}`);
  }
  const before = handled;
  await post("calm", "key", "first");
  expect(handled).toBe(before);
  // The busy tenant replaced its own oldest ones.
  await post("busy", "key 0", "request 0");
  expect(handled).toBe(before + 1);
});
