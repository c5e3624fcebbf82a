import { mkdtemp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ModelMessage } from "../model/model-message.ts";
import { ChatSessions } from "./chat-sessions.ts";
import { titleOf, type SavedSession } from "./saved-session.ts";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "nexus-sessions-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const open = (name: string, limits = {}) =>
  new ChatSessions({ folder: join(root, name), platform: process.platform, ...limits });

const MESSAGES: ModelMessage[] = [
  {
    role: "user",
    content: [
      { type: "text", text: "read it" },
      { type: "media", data: "AAAA", mediaType: "image/png" },
    ],
  },
  {
    role: "assistant",
    content: [
      { type: "reasoning", text: "hm", metadata: { signature: "x" } },
      { type: "tool_call", id: "1", name: "mcp__a__b", arguments: { path: "a" } },
    ],
  },
  {
    role: "tool",
    content: [
      { type: "tool_result", id: "1", name: "mcp__a__b", isError: false, content: [{ type: "text", text: "ok" }] },
    ],
  },
  { role: "assistant", content: [{ type: "text", text: "done" }] },
];

function session(id: string, more: Partial<SavedSession> = {}): SavedSession {
  const usage = { inputTokens: 10, outputTokens: 2 };
  return { id, title: "read it", model: "fake:one", createdAt: 1, updatedAt: 2, messages: MESSAGES, usage, ...more };
}

/** Files of the same moment would have no order. */
async function age(name: string, id: string, seconds: number): Promise<void> {
  await utimes(join(root, name, `${id}.json`), seconds, seconds);
}

test("a session that another chat has continued is not replaced: both are kept", async () => {
  const sessions = open("two-chats");
  const id = await sessions.save(session("first1", { updatedAt: 10 }));
  expect(await sessions.save(session(id, { updatedAt: 20, title: "one" }), 10)).toBe(id);
  const other = await sessions.save(session(id, { updatedAt: 30, title: "other" }), 10);
  expect(other).not.toBe(id);
  expect(await sessions.get(id)).toMatchObject({ id, title: "one" });
  expect(await sessions.get(other)).toMatchObject({ id: other, title: "other" });
  expect(await sessions.save(session(other, { updatedAt: 40 }), 30)).toBe(other);
  expect(await readdir(join(root, "two-chats"))).toHaveLength(2);
});

test("a session is saved with everything and read back, in a file that only its owner can read", async () => {
  const sessions = open("one");
  const saved = session(ChatSessions.newId(), { cost: 0.02 });
  await sessions.save(saved);
  expect(await sessions.get(saved.id)).toEqual(saved);
  if (process.platform !== "win32")
    expect((await stat(join(root, "one", `${saved.id}.json`))).mode & 0o777).toBe(0o600);
});

test("the newest session is the one that was saved last, and old ones are removed", async () => {
  const sessions = open("many", { maxSessions: 2 });
  await sessions.save(session("aaaa"));
  await age("many", "aaaa", 1_000);
  await sessions.save(session("bbbb"));
  await age("many", "bbbb", 2_000);
  expect((await sessions.getNewest()).id).toBe("bbbb");
  await sessions.save(session("cccc"));
  expect((await sessions.list()).map(({ id }) => id)).toEqual(["cccc", "bbbb"]);
});

test("an unknown session, and none at all, say what to do", async () => {
  const sessions = open("unknown");
  await expect(sessions.getNewest()).rejects.toMatchObject({ code: "NAME_UNKNOWN", message: "There is no saved chat" });
  await sessions.save(session("abcdef"));
  for (const id of ["abcdeg", "../../etc/passwd"])
    await expect(sessions.get(id)).rejects.toMatchObject({ code: "NAME_UNKNOWN" });
});

test("a damaged session says which file it is, and does not hide the others", async () => {
  const sessions = open("damaged");
  await sessions.save(session("good"));
  const cases = [
    "",
    "{",
    "[]",
    JSON.stringify({ ...session("bad1"), messages: [{ role: "user", content: [{ type: "text" }] }] }),
    ...[
      { role: "user", content: [{ type: "tool_call", id: "a", name: "x" }] },
      { role: "assistant", content: [{ type: "tool_result", id: "a", name: "x", content: [] }] },
      { role: "assistant", content: [{ type: "media", data: "", mediaType: "image/png" }] },
      { role: "tool", content: [{ type: "text", text: "x" }] },
      { role: "tool", content: [{ type: "tool_result", id: "a", name: "x", content: [{ type: "tool_call" }] }] },
      { role: "constructor", content: [] },
    ].map((message) => JSON.stringify({ ...session("bad2"), messages: [message] })),
    `{"version":1,"messages":[{"role":"user","content":${"[".repeat(50_000)}${"]".repeat(50_000)}}]}`,
  ];
  for (const [at, text] of cases.entries()) {
    const file = join(root, "damaged", `bad${at}.json`);
    await writeFile(file, text, { mode: 0o600 });
    await expect(sessions.get(`bad${at}`)).rejects.toMatchObject({
      code: "DATA_DAMAGED",
      details: { source: { file } },
    });
  }
  expect((await sessions.list()).map(({ id }) => id)).toEqual(["good"]);
  await writeFile(join(root, "damaged", "newer.json"), JSON.stringify({ version: 99 }), { mode: 0o600 });
  await expect(sessions.get("newer")).rejects.toMatchObject({ code: "CONFIG_INVALID" });
});

test("a session that is too large is saved without images, then without its oldest turns", async () => {
  const image: ModelMessage = {
    role: "user",
    content: [{ type: "media", data: "A".repeat(5_000), mediaType: "image/png" }],
  };
  const sessions = open("large", { maxLength: 2_000 });
  await sessions.save(session("pics", { messages: [image, ...MESSAGES.slice(1)] }));
  expect((await sessions.get("pics")).messages[0]).toEqual({
    role: "user",
    content: [{ type: "text", text: "[image/png, not saved]" }],
  });
  const long: ModelMessage = { role: "user", content: [{ type: "text", text: "x".repeat(3_000) }] };
  const last: ModelMessage = { role: "user", content: [{ type: "text", text: "last" }] };
  await sessions.save(session("text", { messages: [long, ...MESSAGES.slice(1), last] }));
  expect((await sessions.get("text")).messages).toEqual([last]);
  expect((await readdir(join(root, "large"))).sort()).toEqual(["pics.json", "text.json"]);
});

test("the title is the first line, cut", () => {
  expect(titleOf("\n  book a room\nfor two")).toBe("book a room");
  expect(titleOf("x".repeat(100))).toHaveLength(60);
});
