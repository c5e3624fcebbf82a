import { describe, expect, test } from "vitest";
import type { ConnectOptions, InputContext, InputProvider, InputRequest } from "../../src/index.ts";
import { failure } from "../fixtures/failure.ts";
import { reach, WAYS } from "../fixtures/reach.ts";
import { withOwnClock } from "../fixtures/own-clock.ts";

type Handle = InputProvider["handle"];

const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: {} };

function answering(handle: Handle, capabilities: InputProvider["capabilities"] = CAPABILITIES): ConnectOptions {
  return { input: { capabilities, handle } };
}

const accept = (content: Record<string, unknown>) => ({ action: "accept" as const, content });
const textOf = async (result: Promise<{ content: { text?: string }[] }>) => (await result).content[0]?.text;

describe.each(WAYS)("over $transport, $revision", (way) => {
  test("sampling, with its parameters as sent (R5, P1.2)", async () => {
    const asked: InputRequest[] = [];
    await using reached = await reach(
      way,
      answering((request) => {
        asked.push(request);
        return { role: "assistant", content: { type: "text", text: "42" }, model: "test" };
      }),
    );
    expect(await textOf(reached.client.callTool("test_sampling", { prompt: "Why?" }))).toBe("LLM response: 42");
    expect(asked).toMatchObject([{ method: "sampling/createMessage", params: { maxTokens: 100 } }]);
  });

  test("roots come from the handler, or from configuration without one (R4)", async () => {
    const root = { uri: "file:///srv/project", name: "project" };
    await using asking = await reach(
      way,
      answering(() => ({ roots: [root] })),
    );
    expect(JSON.parse((await textOf(asking.client.callTool("ask_roots"))) ?? "")).toEqual([root]);

    await using configured = await reach(way, { roots: [{ uri: "file:///one" }] });
    const { client } = configured;
    expect(JSON.parse((await textOf(client.callTool("ask_roots"))) ?? "")).toEqual([{ uri: "file:///one" }]);
    await client.setRoots([{ uri: "file:///two" }]);
    expect(JSON.parse((await textOf(client.callTool("ask_roots"))) ?? "")).toEqual([{ uri: "file:///two" }]);
  });

  test("only what was declared is asked; without a handler nothing is declared (P1.2)", async () => {
    await using reached = await reach(way);
    const text = await textOf(reached.client.callTool("test_input_required_result_capabilities"));
    expect(text).toBe("Asked for: nothing (0)");
  });

  test("a handler for one call alone answers that call", async () => {
    const own: InputProvider = { capabilities: CAPABILITIES, handle: () => ({ roots: [{ uri: "file:///own" }] }) };
    await using reached = await reach(
      way,
      answering(() => ({ roots: [{ uri: "file:///usual" }] })),
    );
    const { client } = reached;
    expect(await textOf(client.callTool("ask_roots", {}, { input: own }))).toContain("own");
    expect(await textOf(client.callTool("ask_roots"))).toContain("usual");
  });
});

const ELICITING = WAYS.filter(({ revision }) => revision >= "2025-06-18");

describe.each(ELICITING)("elicitation over $transport, $revision", (way) => {
  test.each(["accept", "decline", "cancel"] as const)(
    "a form is asked, and %s reaches the server (R5)",
    async (action) => {
      let context: InputContext | undefined;
      await using reached = await reach(
        way,
        answering((request, given) => {
          context = given;
          expect(request).toMatchObject({ method: "elicitation/create", params: { message: "Who?" } });
          return action === "accept" ? accept({ username: "ada", email: "a@b.c" }) : { action };
        }),
      );
      const text = await textOf(reached.client.callTool("test_elicitation", { message: "Who?" }));
      expect(text).toContain(`"action":"${action}"`);
      expect(context).toMatchObject({
        server: "fixture",
        call: { method: "tools/call", params: { name: "test_elicitation", arguments: { message: "Who?" } } },
      });
    },
  );

  test("defaults are filled in for a client that promised to (R5)", async () => {
    const declaring = { elicitation: { form: { applyDefaults: true } } };
    await using reached = await reach(
      way,
      answering(() => accept({ name: "Ada" }), declaring),
    );
    const text = await textOf(reached.client.callTool("test_elicitation_sep1034_defaults"));
    expect(text).toContain("Ada");
    // Before 2025-11-25 only yes-or-no questions have a default.
    expect(text).toContain(`"verified":true`);
    if (way.revision < "2025-11-25") return;
    expect(text).toContain("95.5");
    expect(text).toContain("active");
  });

  test("questions of one round are asked at the same time, each by its own key", async () => {
    const waiting: (() => void)[] = [];
    const keys = new Set<unknown>();
    await using reached = await reach(
      way,
      answering(async (_request, { key }) => {
        keys.add(key);
        await new Promise<void>((resolve) => {
          waiting.push(resolve);
          if (waiting.length === 2) for (const go of waiting) go();
        });
        return accept({ ok: true });
      }),
    );
    expect(await textOf(reached.client.callTool("ask_twice"))).toContain("accept");
    expect(keys.size).toBe(2);
  });

  test("the call's clock stands while the user thinks", async () => {
    let pass = (_ms: number): void => {};
    const thinking = answering(() => {
      pass(250);
      return Promise.resolve(accept({ username: "slow", email: "s@l.ow" }));
    });
    await using reached = await reach(way, thinking);
    await withOwnClock(async (clock) => {
      pass = clock;
      const call = reached.client.callTool("test_elicitation", { message: "?" }, { timeoutMs: 150 });
      expect(await textOf(call)).toContain("slow");
    });
  });

  test("aborting the call withdraws the question from the handler (G6)", async () => {
    const abort = new AbortController();
    let withdrawn: Promise<unknown> | undefined;
    await using reached = await reach(
      way,
      answering((_request, { signal }) => {
        withdrawn = new Promise((resolve) => signal.addEventListener("abort", resolve));
        abort.abort();
        return new Promise<never>(() => {});
      }),
    );
    const error = await failure(
      reached.client.callTool("test_elicitation", { message: "?" }, { signal: abort.signal }),
    );
    expect(error.code).toBe("CANCELLED");
    await withdrawn;
  });
});

const NEWEST_TWO = WAYS.filter(({ revision }) => revision >= "2025-11-25");

describe.each(NEWEST_TWO)("over $transport, $revision, the newest two revisions", (way) => {
  test("sampling with tools reaches the handler whole", async () => {
    const answer = {
      role: "assistant" as const,
      model: "test",
      stopReason: "toolUse",
      content: { type: "tool_use", id: "1", name: "weather", input: { city: "Vienna" } },
    };
    let params: InputRequest["params"];
    await using reached = await reach(
      way,
      answering((request) => {
        params = request.params;
        return answer;
      }),
    );
    const text = await textOf(reached.client.callTool("sample_with_tools"));
    expect(JSON.parse(text ?? "")).toMatchObject(answer);
    expect(params).toMatchObject({ tools: [{ name: "weather" }], toolChoice: { mode: "auto" } });
  });

  test("a URL is shown to the handler, which decides (R5)", async () => {
    const asked: InputRequest[] = [];
    await using reached = await reach(
      way,
      answering((request) => {
        asked.push(request);
        return { action: "accept" };
      }),
    );
    await reached.client.callTool("elicit_url", { url: "https://example.com/login" });
    expect(asked).toMatchObject([{ params: { mode: "url", url: "https://example.com/login" } }]);
  });
});

describe("modern rounds", () => {
  const modern = { transport: "http", revision: "2026-07-28" } as const;
  const respond: Handle = ({ method, params }) => {
    if (method === "roots/list") return { roots: [] };
    if (method === "sampling/createMessage")
      return { role: "assistant", content: { type: "text", text: "Hi" }, model: "m" };
    const schema = params?.["requestedSchema"] as { properties: Record<string, { type: string }> };
    const content = Object.fromEntries(
      Object.entries(schema.properties).map(([name, { type }]) => [name, type === "boolean" ? true : "x"]),
    );
    return accept(content);
  };

  test.each(["request_state", "multiple_inputs", "multi_round", "tampered_state"])(
    "%s ends in an answer",
    async (name) => {
      await using reached = await reach(modern, answering(respond));
      const result = await reached.client.callTool(`test_input_required_result_${name}`);
      expect(result).toMatchObject({ resultType: "complete", content: [{ type: "text" }] });
    },
  );

  test("a prompt may ask, too", async () => {
    await using reached = await reach(modern, answering(respond));
    expect(await reached.client.getPrompt("test_input_required_result_prompt")).toMatchObject({ messages: [{}] });
  });

  test("request() is one exchange: what is asked comes back as it came", async () => {
    await using reached = await reach(modern, answering(respond));
    const result = await reached.client.request("tools/call", {
      name: "test_input_required_result_elicitation",
      arguments: {},
    });
    expect(result).toMatchObject({
      resultType: "input_required",
      inputRequests: { user_name: { method: "elicitation/create" } },
    });
  });

  test("a handler that fails fails the call, and calls its siblings off", async () => {
    let called = 0;
    let siblings = 0;
    await using reached = await reach(
      modern,
      answering((_request, { signal }) => {
        if (called++ === 0) throw new Error("no answer today");
        return new Promise<never>((_, reject) => {
          signal.addEventListener("abort", () => {
            siblings++;
            reject(new Error("called off"));
          });
        });
      }),
    );
    const error = await failure(reached.client.callTool("ask_twice"));
    expect(error).toMatchObject({
      code: "INPUT_FAILED",
      message: expect.stringContaining("no answer today") as string,
    });
    expect(siblings).toBe(1);
  });
});

test.each(["stdio", "http"] as const)(
  "a question outside any call reaches the handler, over %s (R5)",
  async (transport) => {
    const contexts: InputContext[] = [];
    const options = answering((_request, given) => {
      contexts.push(given);
      return accept({ ok: true });
    });
    await using reached = await reach({ transport, revision: "2025-11-25" }, options);
    const isAskedOutside = () => contexts.some(({ call }) => call === undefined);
    // On a busy machine a question can overtake the answer, or come before the stream for it is open.
    await expect
      .poll(async () => {
        if (!isAskedOutside()) await reached.client.callTool("ask_outside");
        return isAskedOutside();
      })
      .toBe(true);
    await expect.poll(() => textOf(reached.client.callTool("outside_answers"))).toContain("accept");
  },
);

test("a legacy server is told of new roots (R4)", async () => {
  const { connect, MemoryTransport } = await import("../../src/index.ts");
  const seen: unknown[] = [];
  const transport = new MemoryTransport((peer) => {
    peer.onMessage = (message) => {
      seen.push(message);
      if ("id" in message && "method" in message && message.method === "initialize") {
        const result = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "s", version: "1" } };
        peer.send({ jsonrpc: "2.0", id: message.id, result });
      }
    };
  });
  await using client = await connect(transport, { era: "legacy", roots: [{ uri: "file:///a" }] });
  await client.setRoots([{ uri: "file:///b" }]);
  await expect.poll(() => seen).toContainEqual({ jsonrpc: "2.0", method: "notifications/roots/list_changed" });
});
