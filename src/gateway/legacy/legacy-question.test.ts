import { expect, test } from "vitest";
import { NexusError } from "../../errors/nexus-error.ts";
import type { ClientCapabilities } from "../../protocol/mcp.ts";
import { legacyQuestion } from "./legacy-question.ts";

function form(properties: Record<string, unknown>) {
  const requestedSchema = { type: "object", properties, required: ["a"] };
  return { method: "elicitation/create", params: { message: "?", requestedSchema } };
}

test("a form for 2025-06-18 has no mode, choices by enum, and defaults for yes or no alone", () => {
  const question = form({
    a: { type: "string", title: "A", oneOf: [{ const: "x", title: "Ex" }, { const: "y" }], default: "x" },
    b: { type: "boolean", default: true },
    c: { type: "integer", minimum: 1, default: 2 },
  });
  const client = { version: "2025-06-18", capabilities: { elicitation: {} } } as const;
  expect(legacyQuestion(question, client)).toEqual(
    form({
      a: { type: "string", title: "A", enum: ["x", "y"], enumNames: ["Ex", "y"] },
      b: { type: "boolean", default: true },
      c: { type: "integer", minimum: 1 },
    }),
  );
  const newest = { ...client, version: "2025-11-25" } as const;
  expect(legacyQuestion(question, newest)).toEqual({
    ...question,
    params: { ...question.params, mode: "form" },
  });
});

test("several of many cannot be asked for in 2025-06-18", () => {
  const question = form({ a: { type: "array", items: { type: "string", enum: ["x"] } } });
  const capabilities = { elicitation: {} };
  expect(legacyQuestion(question, { version: "2025-06-18", capabilities })).toBeUndefined();
  expect(legacyQuestion(question, { version: "2025-11-25", capabilities })).toBeDefined();
});

test("nothing is asked that was not declared", () => {
  const page = { method: "elicitation/create", params: { mode: "url", url: "https://example.org", message: "?" } };
  const sampling = { method: "sampling/createMessage", params: { messages: [], tools: [], maxTokens: 1 } };
  const ask = (question: { method: string }, capabilities: ClientCapabilities) =>
    failureOf(() => legacyQuestion(question, { version: "2025-11-25", capabilities }));
  for (const [question, capabilities] of [
    [page, { elicitation: {} }],
    [form({}), { elicitation: { url: {} } }],
    [form({}), {}],
    [sampling, { sampling: {} }],
    [sampling, {}],
    [{ method: "roots/list" }, {}],
    [{ method: "something/else" }, { roots: {} }],
  ] as const) {
    expect(ask(question, capabilities).code).toBe("CAPABILITY_MISSING");
  }
  const url = { elicitation: { url: {} } };
  expect(legacyQuestion(page, { version: "2025-11-25", capabilities: url })).toEqual(page);
});

test("before 2025-11-25 several blocks of a message are as many messages", () => {
  const blocks = [
    { type: "text", text: "a" },
    { type: "text", text: "b" },
  ];
  const question = (content: unknown) => ({
    method: "sampling/createMessage",
    params: { messages: [{ role: "user", content }], maxTokens: 1 },
  });
  const client = { version: "2025-03-26", capabilities: { sampling: {} } } as const;
  expect(legacyQuestion(question(blocks), client)?.params?.["messages"]).toEqual([
    { role: "user", content: blocks[0] },
    { role: "user", content: blocks[1] },
  ]);
  expect(legacyQuestion(question(blocks[0]), client)).toEqual(question(blocks[0]));
  const audio = question({ type: "audio", data: "", mimeType: "audio/wav" });
  expect(legacyQuestion(audio, client)).toEqual(audio);
  expect(failureOf(() => legacyQuestion(audio, { ...client, version: "2024-11-05" })).code).toBe("CAPABILITY_MISSING");
  expect(failureOf(() => legacyQuestion(question([{ type: "tool_result" }]), client)).code).toBe("CAPABILITY_MISSING");
});

function failureOf(run: () => unknown): NexusError {
  try {
    run();
  } catch (error) {
    if (error instanceof NexusError) return error;
  }
  throw new Error("expected a NexusError");
}
