import { once } from "node:events";
import { expect, test } from "vitest";
import { SamplingDesk } from "../../agent/questions/sampling-desk.ts";
import type { SamplingQuestion } from "../../agent/questions/sampling-question.ts";
import { shownSampling } from "../../agent/questions/shown-sampling.ts";
import type { CreateMessageRequest } from "../../protocol/mcp.ts";
import { ScriptedModel } from "../../testing/scripted-model.ts";
import { ChatPerson } from "./chat-person.ts";

type Params = CreateMessageRequest["params"];

/** A person who types these answers; `prompts` has what was asked, and `shown` what was on the screen. */
function typing(...answers: string[]) {
  const shown: string[] = [];
  const prompts: string[] = [];
  const person = new ChatPerson({
    screen: {
      aside: (run) => run(),
      labelled: (_style, ...texts) => void shown.push(texts.join(" ")),
      note: (text) => void shown.push(text),
      quoted: (text) => shown.push(text),
    },
    input: {
      ask: (prompt, _signal, initial?: string) => {
        prompts.push(`${prompt}${initial ?? ""}`);
        const answer = answers.shift();
        return answer === undefined ? Promise.reject(new Error("not answered")) : Promise.resolve(answer);
      },
    },
  });
  return { person, shown, prompts };
}

function question(params: Partial<Params> = {}): SamplingQuestion {
  const messages: Params["messages"] = [{ role: "user", content: { type: "text", text: "Hi" } }];
  const all = { messages, maxTokens: 5, ...params };
  const left = { requests: 1, tokens: 100 };
  return { server: "geo", model: "fake:small", maxTokens: 5, left, params: all, ...shownSampling(all) };
}

const { signal } = new AbortController();

test("R3: everything that the model gets is on the screen, and v shows what was shortened", async () => {
  const tools = [{ name: "t", description: `a ${"x".repeat(20_000)} hidden`, inputSchema: { type: "object" } }];
  const { person, shown, prompts } = typing("v", "n");
  const asked = question({ tools, stopSequences: ["END"], temperature: 0.2 });
  expect(await person.sampling(asked, signal)).toEqual({ kind: "decline" });
  expect(shown).toContain(asked.request.text);
  expect(shown.at(-1)).toBe(asked.request.whole);
  expect(prompts[0]).toMatch(/\[n\]o, \[v\]iew all: $/);
});

test("R3: of two requests of one server, the answer to the one that was allowed with r is reviewed", async () => {
  const { person, shown } = typing("r", "y", "n");
  const released = new AbortController();
  const sampled = new ScriptedModel([[{ hook: () => once(released.signal, "abort") }, { text: "slow" }], "fast"]);
  const desk = new SamplingDesk({
    models: () => [sampled],
    ask: person.sampling,
    review: person.review,
    reviewed: "requested",
  });
  const { params } = question();
  const answer = () => desk.answer({ method: "sampling/createMessage", params }, { server: "geo", key: 1, signal });
  const answers = [answer(), answer()];
  expect(await answers[1]).toMatchObject({ content: { text: "fast" } });
  released.abort();
  await expect(answers[0]).rejects.toMatchObject({ code: "DENIED" });
  expect(shown.slice(-2)).toEqual(["geo will get this answer of scripted:model:", "slow"]);
});

test("R3: an answer that was to be reviewed is not sent where nothing can show it", async () => {
  const { person } = typing("r");
  const desk = new SamplingDesk({ models: () => [new ScriptedModel(["an answer"])], ask: person.sampling });
  const { params } = question();
  const answering = desk.answer({ method: "sampling/createMessage", params }, { server: "geo", key: 1, signal });
  await expect(answering).rejects.toMatchObject({ code: "DENIED" });
});

test("R3: an edited request keeps its images, and can be edited again", async () => {
  const image = { type: "image", mimeType: "image/png", data: "AAAA" };
  const messages: Params["messages"] = [
    { role: "user", content: [image, { type: "text", text: "Hi", annotations: {} }, image] },
  ];
  const { person, prompts } = typing("e", "Be brief", "Hello", "e", "Be kind", "Hello you", "y");
  expect(await person.sampling(question({ systemPrompt: "Be long", messages }), signal)).toEqual({
    kind: "once",
    edit: {
      systemPrompt: "Be kind",
      messages: [{ role: "user", content: [image, { type: "text", text: "Hello you", annotations: {} }, image] }],
    },
  });
  const edited = prompts.filter((prompt) => !prompt.startsWith("Allow?"));
  expect(edited).toEqual(["system: Be long", "user: Hi", "system: Be brief", "user: Hello"]);
});

test("R3: one block of content that is edited stays one block", async () => {
  const { person } = typing("e", "Hello", "y");
  const reply = await person.sampling(question(), signal);
  expect(reply).toMatchObject({ edit: { messages: [{ role: "user", content: { type: "text", text: "Hello" } }] } });
});
