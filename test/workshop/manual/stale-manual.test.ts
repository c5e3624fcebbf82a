import { expect, test } from "vitest";
import { staleIn } from "../../../src/workshop/review/stale.ts";
import { draftManual, repositoryFile } from "./manual-draft.ts";

const BEFORE = repositoryFile("api/capcorn/manual.md");
const drafted = await draftManual(BEFORE);

function stalePaths(after: string): string[] {
  expect(after).not.toBe(BEFORE);
  const { stale } = staleIn(drafted.file, {
    citations: drafted.api.citations,
    before: { manual: BEFORE },
    after: { manual: after },
  });
  return stale.map(({ path, evidence }) => `${path.split(".").slice(-1)[0] ?? ""} ${evidence}`).toSorted();
}

test("X5 a changed limit is stale at exactly the field that cites its line", () => {
  const after = BEFORE.replace("| Children per room | at most 8,", "| Children per room | at most 6,");
  expect(stalePaths(after)).toEqual(["child manual#L120"]);
});

test("X5 a changed code is stale at exactly the fields that use its table", () => {
  const after = BEFORE.replace("| 4 | No meals |", "| 4 | Room only |");
  expect(stalePaths(after)).toEqual(["MealPlanCodes manual#L411-L415", "board manual#L411-L415"]);
});

test("X5 a changed type is stale at exactly the field of its row", () => {
  const after = BEFORE.replace("| `option/size` | element | integer |", "| `option/size` | element | decimal |");
  expect(stalePaths(after)).toEqual(["size manual#L236"]);
});
