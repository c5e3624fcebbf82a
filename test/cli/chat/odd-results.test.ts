import { expect, test } from "vitest";
import { ChatWorld, textsOf } from "../../fixtures/chat-world.ts";
import { askingServer } from "../../fixtures/servers/asking-server.ts";

const ODD = [
  null,
  5,
  "words",
  {},
  { type: "text" },
  { type: "text", text: 7 },
  { type: "image", data: "AAAA", mimeType: { a: 1 } },
  { type: "resource", resource: "x" },
  { type: "resource", resource: { uri: 5, text: 6, blob: 7 } },
  { type: "resource_link", uri: { toString: 1 } },
  { type: "text", text: "the last one" },
];

test("blocks of a result that are none are given to the model as data, and the call succeeds", async () => {
  const results = { read: { content: ODD, structuredContent: { rows: 3 } } };
  const evil = askingServer({ tools: [{ name: "read", annotations: { readOnlyHint: true } }], results });
  await using world = await ChatWorld.open({ servers: { evil } });
  world.provider.script({ calls: [{ name: "mcp__evil__read", arguments: {} }] }, { text: "Done." });
  const { code, json } = await world.answer("go");
  expect({ code, text: json.text }).toEqual({ code: 0, text: "Done." });
  expect(json.steps).toMatchObject([{ tool: "read", outcome: "ok" }]);
  for (const part of ["the last one", "words", "rows"]) expect(textsOf(world.provider.asked[1])).toContain(part);

  const { code: called, stderr, stdout } = await world.nexus.run(["mcp", "call", "evil.read"]);
  expect({ called, stderr }).toMatchObject({ called: 0 });
  expect(stdout).toContain("the last one");
});
