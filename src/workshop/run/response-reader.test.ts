import { expect, test } from "vitest";
import { fileOf } from "../../../test/fixtures/tool-file.ts";
import type { RequestToolSpec } from "../file/model/tool-file.ts";
import { responseReader } from "./response-reader.ts";
import { CompletedValues } from "./completed-values.ts";

test("in rules and texts, status and input are those of the call, even if the answer has fields of these names", () => {
  const file = fileOf({ Out: { fields: { status: {}, input: {}, name: {} } } });
  const tool = {
    response: { as: "json", type: "Out", text: "{status} {input.id} {name}" },
    errors: [{ status: [], that: "status == 'shipped'", say: "no" }],
  } as unknown as RequestToolSpec;
  const read = responseReader(file, tool, new CompletedValues(file, "output"));
  const fields = { status: "shipped", input: "theirs", name: "box" };
  const answer = { status: 200, headers: {}, body: Buffer.from(JSON.stringify(fields)) };
  expect(read(answer, { id: 7 }, (text) => text)).toMatchObject({ kind: "success", text: "200 7 box", value: fields });
});
