import { describe, expect, test } from "vitest";
import { smallFile } from "../../../test/fixtures/workshop/small-file.ts";
import { findRequestTool } from "../file/model/request-tools.ts";
import type { SecretsSpec, ToolFile, RequestToolSpec } from "../file/model/tool-file.ts";
import { isAccepted, maskedQuery, placeholderSecrets } from "./credentials.ts";

function withSecrets(
  key: Partial<SecretsSpec>,
  secrets: Record<string, string>,
): { file: ToolFile; spec: RequestToolSpec } {
  const file = smallFile();
  file.secrets = { key: { query: {}, headers: {}, public: [], ...key } };
  file.fake.secrets = secrets;
  const spec = findRequestTool(file, "find");
  if (!spec) throw new Error("there is no such tool");
  return { file, spec };
}

function accepts(
  key: Partial<SecretsSpec>,
  carried: { query?: string; headers?: Record<string, string>; input?: Record<string, unknown> },
  secrets: Record<string, string> = {},
): boolean {
  const { file, spec } = withSecrets(key, secrets);
  const { query = "", headers = {}, input = {} } = carried;
  return isAccepted(file, spec, { query: new URLSearchParams(query), headers }, input);
}

describe("credentials are taken from their places", () => {
  test("query", () => {
    expect(accepts({ query: { k: "token" } }, { query: "k=demo-token" })).toBe(true);
    expect(accepts({ query: { k: "token" } }, { query: "k=other" })).toBe(false);
    expect(accepts({ query: { k: "token" } }, { headers: { k: "demo-token" } })).toBe(false);
    expect(accepts({ query: { k: "token" } }, { query: "k=demo-token&k=demo-token" })).toBe(false);
  });

  test("headers, bearer and basic", () => {
    expect(accepts({ headers: { "X-Key": "token" } }, { headers: { "x-key": "demo-token" } })).toBe(true);
    expect(accepts({ headers: { "X-Key": "token" } }, {})).toBe(false);
    expect(accepts({ bearer: "token" }, { headers: { authorization: "Bearer demo-token" } })).toBe(true);
    expect(accepts({ bearer: "token" }, { headers: { authorization: "demo-token" } })).toBe(false);
    const basic = { user: "name", password: "word" };
    const given = (pair: string) => ({ headers: { authorization: `Basic ${Buffer.from(pair).toString("base64")}` } });
    expect(accepts({ basic }, given("demo-name:demo-word"))).toBe(true);
    expect(accepts({ basic }, given("demo-name:other"))).toBe(false);
  });

  test("for a name with an argument, only those in the file exist", () => {
    const query = { pin: "pin-{hotel}" };
    const listed = { "pin-7": "0000" };
    expect(accepts({ query }, { query: "pin=0000", input: { hotel: 7 } }, listed)).toBe(true);
    expect(accepts({ query }, { query: "pin=0000", input: { hotel: 8 } }, listed)).toBe(false);
    expect(accepts({ query }, { query: "pin=demo-pin-8", input: { hotel: 8 } }, listed)).toBe(false);
    expect(accepts({ query }, { query: "pin=0000" }, listed)).toBe(false);
    expect(placeholderSecrets(withSecrets({ query }, listed).file)).toEqual(listed);
  });
});

test("secrets and undeclared parameters are masked where requests are shown", () => {
  const { file, spec } = withSecrets({ query: { user: "user", key: "token" }, public: ["user"] }, {});
  const query = new URLSearchParams("user=demo&key=demo-token&q=a%26b&apikey=demo-token");
  expect(maskedQuery(file, spec, query)).toBe("user=demo&key=***&q=a%26b&apikey=***");
  expect(maskedQuery(file, undefined, new URLSearchParams("q=1"))).toBe("q=***");
});
