import { expect, test } from "vitest";
import { Sessions } from "./sessions.ts";

test("sessions of one tenant with many keys do not end those of another tenant", () => {
  const sessions = new Sessions({ max: 4 });
  const open = (tenant: string, id: string) => sessions.open({ tenant, id }).id;
  const calm = open("calm", "key");
  const busy = ["a", "b", "c", "d", "e"].map((id) => open("busy", id));
  expect(sessions.find(calm)).toBeDefined();
  expect(busy.map((id) => sessions.find(id) !== undefined)).toEqual([false, false, true, true, true]);
});
