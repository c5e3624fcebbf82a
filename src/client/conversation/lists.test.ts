import { expect, test } from "vitest";
import { usableItems } from "./lists.ts";
import { SILENT } from "../../text/logger.ts";

test("an item with very many faults is reported with a few of them, without control characters (P1.9)", () => {
  const logged: string[] = [];
  const long = `\n\u001b[2J${"x".repeat(1_000_000)}`;
  const schema = { type: "object", properties: { [long]: null }, required: Array<null>(500_000).fill(null) };
  const logger = { ...SILENT, info: (message: string) => logged.push(message) };
  const [tool] = usableItems("tools", [{ name: "odd", inputSchema: schema }], { server: "s", logger });
  expect(tool).toMatchObject({ name: "odd", inputSchema: { properties: { [long]: {} }, required: [] } });
  expect(logged).toEqual([expect.stringMatching(/^repaired in tools\/list of "s": "odd" \(.* and 499996 more\)$/)]);
  expect(logged[0]?.length).toBeLessThan(1000);
});
