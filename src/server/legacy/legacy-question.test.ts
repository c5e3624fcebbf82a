import { expect, test } from "vitest";
import { NexusError } from "../../errors/nexus-error.ts";
import type { ClientCapabilities } from "../../protocol/mcp.ts";
import { legacyQuestion } from "./legacy-call.ts";

function form(properties: Record<string, unknown>) {
  const requestedSchema = { type: "object", properties, required: ["a"] };
  return { method: "elicitation/create", params: { message: "?", requestedSchema } };
}

test("a form for 2025-06-18 has no mode, choices by enum, and defaults for yes or no alone", () => {
  const question = form({
    a: { type: "string", title: "A", oneOf: [{ const: "x", title: "Ex" }, { const: "y" }], default: "x" },
    b: { type: "boolean", default: true },
    c: { type: "integer", minimum: 1, default: 2, description: "How many." },
  });
  const client = { version: "2025-06-18", capabilities: { elicitation: {} } } as const;
  const { original: _, ...asked } = legacyQuestion(question, client);
  expect(asked).toEqual(
    form({
      a: { type: "string", title: "A", enum: ["x", "y"], enumNames: ["Ex", "y"], description: "Default: x." },
      b: { type: "boolean", default: true },
      c: { type: "integer", minimum: 1, description: "How many. Default: 2." },
    }),
  );
  const newest = { ...client, version: "2025-11-25" } as const;
  expect(legacyQuestion(question, newest)).toEqual({
    ...question,
    params: { ...question.params, mode: "form" },
  });
});

test("several of many are one yes-or-no field each in 2025-06-18, and the answer is put together again", () => {
  const titled = [{ const: "1", title: "One" }, { const: "2" }];
  const question = form({
    a: { type: "array", title: "A", description: "Some.", items: { type: "string", enum: ["x", "y"] }, minItems: 1 },
    b: { type: "array", items: { anyOf: titled }, minItems: 0, maxItems: 1, default: ["2"] },
    c: { type: "string" },
  });
  const client = { version: "2025-06-18", capabilities: { elicitation: {} } } as const;
  const { original, ...asked } = legacyQuestion(question, client);
  const { params } = form({
    "a: x": { type: "boolean", title: "A: x", description: "Some. Choose at least 1." },
    "a: y": { type: "boolean", title: "A: y", description: "Some. Choose at least 1." },
    "b: 1": { type: "boolean", title: "b: One", description: "Choose at most 1.", default: false },
    "b: 2": { type: "boolean", title: "b: 2", description: "Choose at most 1.", default: true },
    c: { type: "string" },
  });
  expect(asked.params).toEqual({ ...params, requestedSchema: { ...params.requestedSchema, required: [] } });
  expect(original?.({ "a: y": true, "a: x": true, "b: 1": false, c: "z" })).toEqual({ c: "z", a: ["x", "y"], b: [] });
  // What is not required may be left out, and is.
  expect(original?.({ c: "z" })).toEqual({ c: "z", a: [] });
  const newest = legacyQuestion(question, { ...client, version: "2025-11-25" });
  expect(newest).toEqual({ ...question, params: { ...question.params, mode: "form" } });
});

test("a field that 2025-06-18 does not have is not asked for, and the error says why", () => {
  const client = { version: "2025-06-18", capabilities: { elicitation: {} } } as const;
  const free = { type: "array", items: { type: "string" } };
  const taken = { a: { type: "array", items: { enum: ["x"] } }, "a: x": { type: "string" } };
  for (const question of [form({ a: free }), form(taken)]) {
    const { code, message } = failureOf(() => legacyQuestion(question, client));
    expect(code).toBe("CAPABILITY_MISSING");
    expect(message).toBe(
      `The client cannot be asked for "a": its revision 2025-06-18 does not support this form field`,
    );
  }
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
  expect(legacyQuestion(question(blocks), client).params?.["messages"]).toEqual([
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
