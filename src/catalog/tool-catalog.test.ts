import { expect, test } from "vitest";
import { ToolCatalog } from "./tool-catalog.ts";

test.each<[what: string, hints: (boolean | undefined)[], isRead: boolean, isWhole?: boolean]>([
  ["all of its tools only read", [true, true], true],
  ["one of its tools may write", [true, undefined], false],
  ["it has no tools, because those that come next may do anything", [], false],
  ["a server is missing, whose tools may do anything", [true, true], false, false],
])("call_tool of a catalog only reads, or is destructive: %s", (_what, hints, isRead, isWhole) => {
  const tools = hints.map((readOnlyHint, at) => {
    const annotations = readOnlyHint === undefined ? {} : { readOnlyHint };
    return { name: `tool${at}`, ownName: `tool${at}`, server: "kit", annotations, inputSchema: () => ({}) };
  });
  const { annotations } = new ToolCatalog(tools).searchingTools(isWhole === undefined ? {} : { isWhole }).call;
  expect(annotations?.readOnlyHint).toBe(isRead);
  expect(annotations?.destructiveHint).toBe(isRead ? undefined : true);
});
