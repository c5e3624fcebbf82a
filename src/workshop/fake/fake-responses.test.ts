import { expect, test } from "vitest";
import { field, smallFile } from "../../../test/fixtures/workshop/small-file.ts";
import type { RequestToolSpec, ToolFile } from "../file/model/tool-file.ts";
import { FakeResponses } from "./fake-responses.ts";

function fileWith(more: Partial<RequestToolSpec>): { file: ToolFile; tool: string } {
  const file = smallFile();
  const [entry] = Object.entries(file.tools);
  if (!entry?.[1].request) throw new Error("the small file has a tool with a request");
  const [tool, spec] = entry;
  return { file: { ...file, tools: { [tool]: { ...spec, ...more } } }, tool };
}

test("a made-up answer of a list in pages names no next page", () => {
  const { file, tool } = fileWith({
    response: { as: "json", type: "Page", text: "Found.", sourcePayload: false },
    paging: { items: "items", next: { kind: "cursor", from: "next", to: "q" }, maxPages: 3 },
  });
  file.types["Page"] = { xml: {}, rules: [], fields: { id: field("string"), next: field("string") } };
  expect(Object.keys(new FakeResponses(file).to(tool, {}).value as object)).toEqual(["id"]);
});

test("made-up bytes have the content type that the request asks for", () => {
  const response = { as: "binary", text: "Done.", sourcePayload: false } as const;
  const request = { method: "GET", path: "x", query: {}, headers: {}, accept: "application/pdf" } as const;
  const { file, tool } = fileWith({ response, request });
  expect(new FakeResponses(file).to(tool, {}).value).toMatch(/^data:application\/pdf;base64,/);
});
