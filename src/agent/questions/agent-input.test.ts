import { describe, expect, test, vi } from "vitest";
import type { InputContext } from "../../client/conversation/input.ts";
import type { ElicitRequest } from "../../protocol/mcp.ts";
import { AgentInput } from "./agent-input.ts";
import { ElicitationDesk } from "./elicitation-desk.ts";
import type { ElicitationHandler, FormReply } from "./elicitation-handler.ts";
import { SamplingDesk } from "./sampling-desk.ts";

const context: InputContext = { server: "shop", key: "q", signal: new AbortController().signal };

const form = (properties: Record<string, Record<string, unknown>>, required: string[] = []): ElicitRequest => ({
  method: "elicitation/create",
  params: { message: "Who are you?", requestedSchema: { type: "object", properties, required } },
});
const page = (url: string): ElicitRequest => ({
  method: "elicitation/create",
  params: { mode: "url", message: "Log in", url },
});
const inputOf = (handler: ElicitationHandler) => new AgentInput({ elicitation: new ElicitationDesk(handler) });
const filling = (reply: FormReply) => {
  const fillForm = vi.fn<NonNullable<ElicitationHandler["fillForm"]>>().mockResolvedValue(reply);
  return { fillForm, input: inputOf({ fillForm }) };
};

describe("capabilities say what can be answered", () => {
  const visitPage = () => Promise.resolve("decline" as const);
  const fillForm = () => Promise.resolve({ action: "decline" } as const);
  const sampling = new SamplingDesk({ models: () => [] });
  test.each([
    ["nothing", new AgentInput({}), {}],
    ["forms", inputOf({ fillForm }), { elicitation: { form: {} } }],
    ["pages", inputOf({ visitPage }), { elicitation: { url: {} } }],
    ["both", inputOf({ fillForm, visitPage }), { elicitation: { form: {}, url: {} } }],
    ["no handler", inputOf({}), {}],
    ["sampling, without context", new AgentInput({ sampling }), { sampling: { tools: {} } }],
  ])("%s", (_what, input, expected) => {
    expect(input.capabilities).toEqual(expected);
  });

  test("a question that was not declared is refused", async () => {
    await expect(new AgentInput({}).handle({ method: "roots/list" }, context)).rejects.toMatchObject({
      code: "CAPABILITY_MISSING",
    });
  });
});

describe("forms", () => {
  test("the fields reach the handler, and its checked answer reaches the server", async () => {
    const { fillForm, input } = filling({ action: "accept", content: { name: "Ada", size: "l" } });
    const question = form({ name: { type: "string" }, size: { type: "string", enum: ["s", "l"] } }, ["name"]);
    expect(await input.handle(question, context)).toEqual({ action: "accept", content: { name: "Ada", size: "l" } });
    expect(fillForm.mock.calls[0]?.[0]).toMatchObject({
      server: "shop",
      message: "Who are you?",
      secrets: [],
      fields: [
        { name: "name", required: true, kind: "text" },
        { name: "size", kind: "choice" },
      ],
    });
  });

  test.each([
    ["a missing field", {}],
    ["a wrong type", { name: 5 }],
    ["a wrong format", { name: "Ada", mail: "ada" }],
    ["an unknown field", { name: "Ada", more: 1 }],
  ])("an answer with %s is not sent", async (_what, content) => {
    const { input } = filling({ action: "accept", content });
    const question = form({ name: { type: "string" }, mail: { type: "string", format: "email" } }, ["name"]);
    await expect(input.handle(question, context)).rejects.toMatchObject({ code: "INPUT_FAILED" });
  });

  test.each([["decline" as const], ["cancel" as const]])("%s is passed on", async (action) => {
    expect(await filling({ action }).input.handle(form({}), context)).toEqual({ action });
  });
});

describe("a handler that returns no valid reply accepts nothing, and the error names it", () => {
  test.each([
    ["an answer without its action", { name: "Ada" }, "{ name }"],
    ["a text, which may be what a person typed", "Ada", "a text"],
    ["an unknown action", { action: "ok", content: {} }, `{ action: "ok", content }`],
    ["accept without content", { action: "accept" }, `{ action: "accept" }`],
    ["nothing", undefined, "undefined"],
  ])("fillForm returns %s", async (_what, reply, shown) => {
    const { input } = filling(reply as unknown as FormReply);
    await expect(input.handle(form({ name: { type: "string" } }), context)).rejects.toMatchObject({
      code: "ARGUMENTS_INVALID",
      message:
        `The handler "fillForm" of ElicitationDesk returned ${shown}. It has to return ` +
        `{ action: "accept", content }, { action: "decline" } or { action: "cancel" }`,
    });
  });

  test("visitPage returns an object", async () => {
    const visitPage = (() => Promise.resolve({ action: "accept" })) as unknown as ElicitationHandler["visitPage"];
    await expect(
      inputOf({ ...(visitPage && { visitPage }) }).handle(page("https://a.example"), context),
    ).rejects.toThrow(
      `The handler "visitPage" of ElicitationDesk returned { action: "accept" }. ` +
        `It has to return "accept", "decline" or "cancel"`,
    );
  });
});

describe("R4: a form that asks for a secret", () => {
  test.each([
    ["password", {}],
    ["userPassword", {}],
    ["api_key", {}],
    ["x", { title: "Your PIN" }],
    ["x", { description: "The access token of your account" }],
    ["x", { format: "password" }],
    ["x", { title: "Passwort" }],
  ])("the field %s %j is flagged and is sent only after a confirmation", async (name, more) => {
    const question = form({ [name]: { type: "string", ...more } });
    const unconfirmed = filling({ action: "accept", content: { [name]: "hunter2" } });
    expect(await unconfirmed.input.handle(question, context)).toEqual({ action: "decline" });
    expect(unconfirmed.fillForm.mock.calls[0]?.[0].secrets).toEqual([name]);
    const confirmed = filling({ action: "accept", content: { [name]: "hunter2" }, secretsConfirmed: true });
    expect(await confirmed.input.handle(question, context)).toMatchObject({ action: "accept" });
  });

  test("a message that asks for one flags every text of the form", async () => {
    const { fillForm, input } = filling({ action: "decline" });
    const question = form({ answer: { type: "string" }, agree: { type: "boolean" } });
    question.params.message = "Please enter your password";
    await input.handle(question, context);
    expect(fillForm.mock.calls[0]?.[0].secrets).toEqual(["answer"]);
  });

  test.each([["city"], ["spinner"], ["compass"], ["tokenizer"], ["shipping"]])("the field %s is not", async (name) => {
    const { fillForm, input } = filling({ action: "decline" });
    await input.handle(form({ [name]: { type: "string" } }), context);
    expect(fillForm.mock.calls[0]?.[0].secrets).toEqual([]);
  });
});

describe("pages", () => {
  test("the handler gets the address as a browser reads it", async () => {
    const visitPage = vi.fn<NonNullable<ElicitationHandler["visitPage"]>>().mockResolvedValue("accept");
    const answer = await inputOf({ visitPage }).handle(page("https://good.example@evil.example/login"), context);
    expect(answer).toEqual({ action: "accept" });
    expect(visitPage.mock.calls[0]?.[0].url.host).toBe("evil.example");
  });

  test.each([["file:///etc/passwd"], ["javascript:alert(1)"], ["not a url"], ["vscode://x"]])(
    "%s is declined without a question",
    async (url) => {
      const visitPage = vi.fn<NonNullable<ElicitationHandler["visitPage"]>>().mockResolvedValue("accept");
      expect(await inputOf({ visitPage }).handle(page(url), context)).toEqual({ action: "decline" });
      expect(visitPage).not.toHaveBeenCalled();
    },
  );

  test("questions come one after the other and end with their signal", async () => {
    const ended = new AbortController();
    const visitPage = vi.fn<NonNullable<ElicitationHandler["visitPage"]>>(() => new Promise(() => {}));
    const input = inputOf({ visitPage });
    const first = input.handle(page("https://a.example"), { ...context, signal: ended.signal });
    const second = input.handle(page("https://b.example"), context);
    await vi.waitFor(() => expect(visitPage).toHaveBeenCalledTimes(1));
    visitPage.mockResolvedValue("accept");
    ended.abort();
    await expect(first).rejects.toMatchObject({ code: "CANCELLED" });
    expect(await second).toEqual({ action: "accept" });
  });
});
