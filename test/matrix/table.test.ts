import { expect, test } from "vitest";
import { allCombinations, CLIENTS, ENDPOINTS, someCombinations, UPSTREAMS } from "./definition.ts";
import { compatibilityPage } from "./table.ts";

test("docs/compatibility.md shows the matrix as it is defined (B2)", async () => {
  await expect(compatibilityPage()).toMatchFileSnapshot("../../docs/compatibility.md");
});

test("the part that every run tries has every client, endpoint and kind of server in it", () => {
  const some = someCombinations();
  expect(new Set(some.map(({ client }) => client))).toEqual(new Set(CLIENTS));
  expect(new Set(some.map(({ endpoint }) => endpoint))).toEqual(new Set(ENDPOINTS));
  expect(new Set(some.map(({ upstream }) => upstream))).toEqual(new Set(UPSTREAMS));
  expect(some.length).toBeLessThan(allCombinations().length / 4);
});
