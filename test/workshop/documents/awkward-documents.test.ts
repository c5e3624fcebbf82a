import { expect, test } from "vitest";
import { madeUpCall } from "../../../src/workshop/check/made-up.ts";
import { compileApi } from "../../../src/workshop/compile/compile.ts";
import { parseDocument } from "../../../src/workshop/documents/parse-document.ts";
import { draftToolFile } from "../../../src/workshop/draft/draft-tool-file.ts";
import { factsOf } from "../../../src/workshop/draft/read-document.ts";
import { startFake } from "../../../src/workshop/fake/fake.ts";
import { readToolFile } from "../../../src/workshop/file/read-tool-file.ts";
import { runChecks } from "../../../src/workshop/run-checks.ts";
import { ApiRunner } from "../../../src/workshop/run/api-runner.ts";
import { AWKWARD } from "./awkward-documents.ts";

/** A date that is not in the past for any rule. */
const FROM = Date.UTC(2030, 0, 1);

test.each(Object.entries(AWKWARD))("%s: every tool works against the fake", async (_, description) => {
  const document = parseDocument(JSON.stringify(description), "openapi");
  const documents = { openapi: { file: "openapi.json", sha256: document.sha256 } };
  const facts = await factsOf(document);
  const draft = draftToolFile(facts, { api: "awkward", documents });
  expect(draft.omitted).toEqual([]);
  expect(draft.tools).toHaveLength(facts.operations.length);

  const { file, problems } = readToolFile(draft.text, "awkward.nexus.yaml");
  expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
  if (!file) expect.fail();
  const { api, problems: more } = compileApi(file, { openapi: document.text });
  expect(more.filter(({ severity }) => severity === "error")).toEqual([]);

  const failed = [];
  for await (const outcome of runChecks({ api, file })) if (outcome.problems.length > 0) failed.push(outcome);
  expect(failed).toEqual([]);

  await using fake = await startFake(file);
  const secrets: Record<string, string> = fake.secrets;
  const find = (name: string) => Promise.resolve(secrets[name.replace("awkward.", "")]);
  await using runner = new ApiRunner(api, { secrets: find, upstream: fake.url });
  for (const [tool, { input }] of Object.entries(file.tools)) {
    for (const all of [false, true]) {
      const args = madeUpCall(file, input, { from: FROM, all });
      const { isError, content } = await runner.call(tool, args, { caller: "ann" });
      expect({ tool, args, isError, text: isError ? content : [] }).toEqual({
        tool,
        args,
        isError: undefined,
        text: [],
      });
      expect(fake.requests.at(-1)).toMatchObject({ tool, input: args });
    }
  }
});
