import { expect, test } from "vitest";
import { gardenApi } from "./garden-world.ts";
import { CompletedValues } from "../../src/workshop/run/completed-values.ts";
import { ToolPlans } from "../../src/workshop/run/steps/steps-plan.ts";

test("the plan of a tool is made when it is first needed, with those of the tools that its steps call", () => {
  const api = gardenApi();
  const plans = new ToolPlans(api, { values: new CompletedValues(api.file, "output"), now: Date.now });
  expect(Object.keys(api.file.tools).length).toBeGreaterThan(3);
  expect(plans.made).toEqual([]);

  const called = Object.values(api.file.tools["create_order"]?.steps ?? {}).map(({ call }) => call);
  expect(plans.find("create_order")).toBe(plans.find("create_order"));
  expect(plans.made.toSorted()).toEqual([...new Set([...called, "create_order"])].toSorted());
  expect(plans.find("constructor")).toBeUndefined();
});
