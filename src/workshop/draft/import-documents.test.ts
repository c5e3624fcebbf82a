import { expect, test } from "vitest";
import { parseDocument } from "../documents/parse-document.ts";
import { factsOf } from "./read-document.ts";

test.each([
  ["an OpenAPI description", `{"openapi": "3.1.0", "info": {"title": "A", "title": "B"}, "paths": {}}`],
  ["a Postman collection", `{"info": {"name": "A", "name": "B", "schema": "collection/v2.1.0"}, "item": []}`],
])("a key that is twice in %s is remarked once", async (_, text) => {
  const facts = await factsOf(parseDocument(text, "doc"));
  const remarks = facts.remarks.filter((remark) => remark.text.includes("is twice"));
  expect(remarks).toMatchObject([{ evidence: "doc#" }]);
});
