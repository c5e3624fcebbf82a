import fc from "fast-check";
import { expect, test } from "vitest";
import { OversizeOutline } from "./oversize-outline.ts";

function outline(json: string): OversizeOutline["answered"] {
  const scanner = new OversizeOutline();
  for (const byte of Buffer.from(json)) scanner.push(Uint8Array.of(byte));
  return scanner.answered;
}

test.each([
  [`{"jsonrpc":"2.0","id":5,"result":{"id":6}}`, { id: 5 }],
  [`{"result":{"id":1,"text":"\\"id\\": 2 }"},"jsonrpc":"2.0","id":"a\\"b"}`, { id: 'a"b' }],
  [`{ "id" : 12 , "error":{"code":1,"message":"id"}}`, { id: 12 }],
  [`{"result":[[{"method":"x"}]],"id":null}`, "unknown"],
  [`{"result":{}}`, "unknown"],
  [`{"jsonrpc":"2.0","method":"notifications/message","params":{"id":4}}`, "nothing"],
  [`{"id":9,"method":"roots/list"}`, "nothing"],
  [`no JSON at all`, "unknown"],
])("of %s the answered request is told", (json, answered) => {
  expect(outline(json)).toEqual(answered);
});

test("the id is found in any answer, at any position", () => {
  const id = fc.oneof(fc.integer(), fc.string({ unit: "binary", maxLength: 20 }));
  fc.assert(
    fc.property(id, fc.jsonValue(), fc.boolean(), (id, result, first) => {
      const message = first ? { jsonrpc: "2.0", id, result } : { result, jsonrpc: "2.0", id };
      expect(outline(JSON.stringify(message))).toEqual({ id });
    }),
  );
});
