import type { IncomingMessage } from "node:http";
import { PassThrough } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { ByteBudget } from "../core/byte-budget.ts";
import { readJson, type ReadJsonOptions } from "./mcp-endpoint.ts";

const OPTIONS: ReadJsonOptions = {
  limits: { bodyBytes: 1_000_000, jsonDepth: 10, jsonValues: 1_000, jsonMembers: 1_000 },
  claim: (giveUp) => new ByteBudget({ totalBytes: 1_000_000 }).claim("ada", { giveUp }),
};

/** A request whose body has arrived, as far as it is read here. */
function posted(text: string, socket = { destroyed: false }): IncomingMessage {
  const body = new PassThrough();
  body.end(JSON.stringify(text));
  return Object.assign(body, { headers: { "content-type": "application/json" }, socket }) as unknown as IncomingMessage;
}

test("large bodies that arrive together are parsed in turns of their own, so that others are served between them (R8)", async () => {
  let turn = 0;
  const parsed: { turn: number; text: unknown }[] = [];
  const read = (text: string) =>
    readJson(posted(text), OPTIONS).then((body) => {
      parsed.push({ turn, text: body.kind === "read" && typeof body.value === "string" && body.value[0] });
    });
  let isDone = false;
  const all = Promise.all([read("a".repeat(100_000)), read("b".repeat(100_000)), read("c".repeat(100_000)), read("d")]);
  void all.then(() => (isDone = true));
  while (!isDone) {
    await nextTurn();
    turn++;
  }
  expect(parsed.map(({ text }) => text)).toEqual(["d", "a", "b", "c"]);
  expect(new Set(parsed.slice(1).map((each) => each.turn)).size).toBe(3);
});

test("a large body of a caller that left while it waited is not parsed", async () => {
  const socket = { destroyed: false };
  const reading = readJson(posted("a".repeat(100_000), socket), OPTIONS);
  socket.destroyed = true;
  expect(await reading).toEqual({ kind: "gone" });
});
