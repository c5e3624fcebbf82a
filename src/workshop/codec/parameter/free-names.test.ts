import { describe, expect, test } from "vitest";
import { readToolFile } from "../../file/read-tool-file.ts";
import { findRequestTool } from "../../file/model/request-tools.ts";
import type { ToolFile } from "../../file/model/tool-file.ts";
import { requestBodyFor } from "../body/request-body.ts";
import { requestPartsFor } from "./request-parts.ts";

/** A tool whose callers choose the names of some members. */
function fileWith(request: string): ToolFile {
  const { file, problems } = readToolFile(
    `
nexus: 1
api: things
title: Things
version: "1"
upstream: { base: "https://things.example/" }
secrets: { key: { query: { key: key }, cookies: { sid: sid } } }
types:
  In:
    fields:
      amount: { wire: Betrag, type: integer, maximum: 5, optional: true }
      account: { const: "7" }
      labels: { map: string, optional: true }
      more: { type: More, optional: true }
  More: { fields: { size: { wire: Size, type: integer, maximum: 5, optional: true } }, additional: string }
tools:
  send:
    title: Send
    description: Sends.
    effect: write
    outcomeUnknown: Look.
    input: In
    request: ${request}
    response: { as: none, text: Sent. }
`,
    "things.nexus.yaml",
  );
  expect(problems.filter(({ severity }) => severity === "error")).toEqual([]);
  if (!file) throw new Error("no file");
  return file;
}

const QUERY = `{ method: POST, path: x, secrets: key, cookies: { c: { field: labels, style: members }, Theme: { const: dark } },
      query: { m: { field: labels, style: members }, v: { const: "2" }, a: amount, b: account, more: { field: more, style: members } } }`;
const bodyWith = (kind: string) =>
  `{ method: POST, path: x, secrets: key, body: ${kind}, parts: { labels: { style: members }, more: { style: members } } }`;

describe("members whose names callers choose", () => {
  test.each(["v", "V", "key", "Key", "key[]", "key[0]", "sid", "SID", "theme"])(
    "do not replace the parameter, constant or secret %s",
    (name) => {
      const write = requestPartsFor(fileWith(QUERY), "send");
      expect(() => write({ labels: { [name]: "mine" } })).toThrow(`labels must not have the member "${name}"`);
      expect(write({ labels: { other: "mine" } }).query).toContain("other=mine");
    },
  );

  test.each(["form", "multipart"])("do not replace other fields of a %s body", (kind) => {
    const file = fileWith(bodyWith(kind));
    const spec = findRequestTool(file, "send");
    const body = spec && requestBodyFor(file, spec);
    for (const name of ["account", "ACCOUNT", "Betrag", "account[]", "betrag.x"]) {
      expect(() => body?.write({ labels: { [name]: "9" } })).toThrow("labels must not have the member");
      expect(() => body?.write({ more: { [name]: "9" } })).toThrow("more must not have the member");
    }
    expect(Buffer.from(body?.write({ labels: { other: "9" } })?.body ?? "").toString()).toContain("other");
  });

  test("do not replace a declared member of the same object by its name upstream", () => {
    const write = requestPartsFor(fileWith(QUERY), "send");
    expect(() => write({ more: { Size: "99" } })).toThrow("more.Size is the name that another field has upstream");
    expect(write({ more: { size: 3, other: "x" } }).query).toContain("Size=3&other=x");
  });
});
