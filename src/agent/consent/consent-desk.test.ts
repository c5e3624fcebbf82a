import { setImmediate as nextRound } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { ConsentDesk } from "./consent-desk.ts";
import type { ConsentAsker, ConsentQuestion, ConsentReply } from "./consent-question.ts";
import type { DecisionSubject, RememberedDecisions } from "./remembered-decisions.ts";
import type { WantedCall } from "./tool-consent.ts";

const DELETE: WantedCall = {
  server: "files",
  tool: "delete",
  arguments: { path: "/tmp/a" },
  annotations: { destructiveHint: true },
  definitionHash: "h1",
};
const never = new AbortController().signal;
const answering = (reply: ConsentReply) => vi.fn<ConsentAsker>().mockResolvedValue(reply);

function definition(args: string[] = ["server.js"]): ServerDefinition {
  const reach = { kind: "stdio", command: "node", args, cwd: undefined, env: {}, passthrough: [] } as const;
  return {
    id: "files",
    entry: {
      id: "files",
      reach,
      timeoutMs: undefined,
      connectTimeoutMs: undefined,
      maxRetries: undefined,
      retryBackoffMs: undefined,
      roots: undefined,
    },
    enabled: true,
    autoStart: true,
    failIfNoTools: false,
    tools: {},
    isolation: "owner",
    hides: [],
    trusted: true,
    origin: { file: "mcp.json", line: 3, column: 5, layer: "user" },
  };
}

function toolFile(): ServerDefinition {
  const { entry, ...rest } = definition();
  return {
    ...rest,
    ...(entry && { entry: { ...entry, reach: { kind: "api", file: "files.yaml", upstream: undefined } } }),
  };
}

/** Decisions in memory, with the interface of the file. */
function memory(): Pick<RememberedDecisions, "has" | "remember"> & { known: DecisionSubject[] } {
  const known: DecisionSubject[] = [];
  const key = (subject: DecisionSubject) => JSON.stringify(subject, Object.keys(subject).sort());
  return {
    known,
    has: (subject) => Promise.resolve(known.some((other) => key(other) === key(subject))),
    remember: (subject) => Promise.resolve(void known.push(subject)),
  };
}

describe("what runs without a question", () => {
  test("a tool that is annotated as read-only runs", async () => {
    const ask = answering("no");
    const call = { ...DELETE, annotations: { readOnlyHint: true } };
    expect(await new ConsentDesk({ ask }).decide(call, never)).toEqual({ kind: "allowed" });
    expect(ask).not.toHaveBeenCalled();
  });

  test.each([["files.delete"], ["files.d*"], ["files"], ["*"]])("the pattern %s allows the tool", async (pattern) => {
    expect(await new ConsentDesk({ allow: [pattern] }).decide(DELETE, never)).toEqual({ kind: "allowed" });
  });

  test.each([["other.delete"], ["files.deleted"], ["files/resources"]])("the pattern %s does not", async (pattern) => {
    expect(await new ConsentDesk({ allow: [pattern] }).decide(DELETE, never)).toMatchObject({ kind: "denied" });
  });

  test("only true is read-only: other values of a server's annotation are asked about", async () => {
    const annotations = { readOnlyHint: "true" } as unknown as WantedCall["annotations"];
    expect(await new ConsentDesk().decide({ ...DELETE, annotations }, never)).toMatchObject({ kind: "denied" });
  });

  test("an invalid pattern is refused at the start", () => {
    expect(() => new ConsentDesk({ allow: ["Files!"] })).toThrow("not a valid policy pattern");
  });
});

describe("R8: deny by default", () => {
  test("with nobody to ask the call is denied, and the reason says how to allow it", async () => {
    const answer = await new ConsentDesk().decide(DELETE, never);
    expect(answer).toEqual({ kind: "denied", reason: expect.stringContaining("--allow files.delete") as string });
  });

  test.each(["*", "read*", "x\ny", "save\u2800ok"])(
    "no pattern is recommended for a tool that is called %j",
    async (tool) => {
      const answer = await new ConsentDesk().decide({ ...DELETE, tool }, never);
      expect(answer).toMatchObject({ kind: "denied", reason: expect.not.stringContaining("--allow") as string });
    },
  );

  test("the reply no denies the call", async () => {
    const ask = answering("no");
    expect(await new ConsentDesk({ ask }).decide(DELETE, never)).toMatchObject({ kind: "denied" });
  });

  test.each([
    ["", `""`],
    ["yes", `"yes"`],
    ["y".repeat(100), `"${"y".repeat(40)}…"`],
    [true, "true"],
    [undefined, "undefined"],
    [{ kind: "once", note: "private" }, `{ kind: "once", note }`],
  ])("the reply %j allows nothing, and the error names the handler and its replies", async (reply, shown) => {
    const ask = answering(reply as ConsentReply);
    const desk = new ConsentDesk({ ask });
    for (let each = 0; each < 2; each++) {
      await expect(desk.decide(DELETE, never)).rejects.toMatchObject({
        code: "ARGUMENTS_INVALID",
        message:
          `The handler "ask" of ConsentDesk returned ${shown}. ` +
          `It has to return "once", "session", "always" or "no"`,
      });
    }
    expect(ask).toHaveBeenCalledTimes(2);
  });

  test("a handler that is not asynchronous can reply as well", async () => {
    const ask = (() => "once") as unknown as ConsentAsker;
    expect(await new ConsentDesk({ ask }).decide(DELETE, never)).toEqual({ kind: "allowed" });
  });

  test("a question that fails denies the call", async () => {
    const ask = vi.fn<ConsentAsker>().mockRejectedValue(new NexusError("CANCELLED", "The question was not answered"));
    expect(await new ConsentDesk({ ask }).decide(DELETE, never)).toMatchObject({ kind: "denied" });
  });

  test("decisions that cannot be read deny the call, even if it could be asked about", async () => {
    const remembered = { ...memory(), has: () => Promise.reject(new NexusError("DATA_DAMAGED", "cannot be read")) };
    const desk = new ConsentDesk({
      ask: answering("once"),
      remembered: remembered as unknown as RememberedDecisions,
      definitionOf: () => definition(),
    });
    expect(await desk.decide(DELETE, never)).toMatchObject({ kind: "denied", reason: expect.stringContaining("read") });
  });
});

describe("decisions", () => {
  test("once counts for one call", async () => {
    const ask = answering("once");
    const desk = new ConsentDesk({ ask });
    await desk.decide(DELETE, never);
    await desk.decide(DELETE, never);
    expect(ask).toHaveBeenCalledTimes(2);
  });

  test("session counts for this tool with other arguments, but not for another tool, server or definition", async () => {
    const ask = answering("session");
    const desk = new ConsentDesk({ ask });
    await desk.decide(DELETE, never);
    await desk.decide({ ...DELETE, arguments: {} }, never);
    expect(ask).toHaveBeenCalledTimes(1);
    await desk.decide({ ...DELETE, tool: "move" }, never);
    await desk.decide({ ...DELETE, server: "other" }, never);
    await desk.decide({ ...DELETE, definitionHash: "h2" }, never);
    expect(ask).toHaveBeenCalledTimes(4);
    desk.forgetSession();
    await desk.decide(DELETE, never);
    expect(ask).toHaveBeenCalledTimes(5);
  });

  test("session counts only as long as the entry of the server is the same", async () => {
    const ask = answering("session");
    let now = definition();
    const desk = new ConsentDesk({ ask, definitionOf: () => now });
    await desk.decide(DELETE, never);
    await desk.decide(DELETE, never);
    expect(ask).toHaveBeenCalledTimes(1);
    now = definition(["other.js"]);
    await desk.decide(DELETE, never);
    expect(ask).toHaveBeenCalledTimes(2);
  });

  test("always is remembered for server, entry, tool and definition; a change of any asks again", async () => {
    const remembered = memory();
    let now = definition();
    const ask = answering("always");
    const open = () =>
      new ConsentDesk({ ask, remembered: remembered as unknown as RememberedDecisions, definitionOf: () => now });
    await open().decide(DELETE, never);
    expect(remembered.known).toHaveLength(1);
    expect(await open().decide({ ...DELETE, arguments: { path: "/" } }, never)).toEqual({ kind: "allowed" });
    expect(ask).toHaveBeenCalledTimes(1);
    await open().decide({ ...DELETE, definitionHash: "h2" }, never);
    expect(ask).toHaveBeenCalledTimes(2);
    now = definition(["other.js"]);
    await open().decide(DELETE, never);
    expect(ask).toHaveBeenCalledTimes(3);
  });

  test("always counts for the session if the definition is not known, and the question says so", async () => {
    const remembered = memory();
    const ask = answering("always");
    const desk = new ConsentDesk({
      ask,
      remembered: remembered as unknown as RememberedDecisions,
      definitionOf: () => definition(),
    });
    await desk.decide({ ...DELETE, definitionHash: undefined }, never);
    await desk.decide({ ...DELETE, definitionHash: undefined }, never);
    expect(remembered.known).toEqual([]);
    expect(ask).toHaveBeenCalledTimes(1);
    expect(ask.mock.calls[0]?.[0].canRemember).toBe(false);
  });

  test("a decision that cannot be written counts for the session and is reported", async () => {
    const failure = new NexusError("PERMISSION_DENIED", "Nexus cannot write to the folder");
    const onProblem = vi.fn();
    const desk = new ConsentDesk({
      ask: answering("always"),
      remembered: { ...memory(), remember: () => Promise.reject(failure) } as unknown as RememberedDecisions,
      definitionOf: () => definition(),
      onProblem,
    });
    expect(await desk.decide(DELETE, never)).toEqual({ kind: "allowed" });
    expect(onProblem).toHaveBeenCalledWith(failure);
  });

  test("a tool that calls others is decided for each of them", async () => {
    const ask = answering("session");
    const desk = new ConsentDesk({ ask, allow: ["files.get*"], definitionOf: () => toolFile() });
    const outer = { ...DELETE, tool: "call_tool" };
    expect(await desk.decide({ ...outer, calls: "get_page" }, never)).toEqual({ kind: "allowed" });
    expect(ask).not.toHaveBeenCalled();
    await desk.decide({ ...outer, calls: "delete_page" }, never);
    await desk.decide({ ...outer, calls: "delete_site" }, never);
    expect(ask.mock.calls.map(([{ tool }]) => tool)).toEqual(["call_tool → delete_page", "call_tool → delete_site"]);
  });
});

describe("R8: a server that says that its tool calls an allowed one", () => {
  const wipe = { ...DELETE, tool: "wipe", calls: "get_page" };

  test.each([
    ["a program", () => definition()],
    ["not known", undefined],
  ])("does not widen a pattern if the server is %s", async (_what, definitionOf) => {
    const ask = answering("no");
    const allow = ["files.get*"];
    expect(await new ConsentDesk({ allow, ask, definitionOf }).decide(wipe, never)).toMatchObject({ kind: "denied" });
    expect(ask).toHaveBeenCalledTimes(1);
    const nobody = new ConsentDesk({ allow, definitionOf });
    expect(await nobody.decide(wipe, never)).toMatchObject({ reason: expect.stringMatching(/--allow files\.wipe\.$/) });
  });

  test("is believed for a tool file, and the hint names the tool that is called", async () => {
    const call = { ...DELETE, tool: "call_tool", calls: "delete_page" };
    const desk = new ConsentDesk({ definitionOf: () => toolFile() });
    expect(await desk.decide(call, never)).toMatchObject({
      reason: expect.stringMatching(/--allow files\.delete_page\.$/),
    });
  });
});

describe("questions", () => {
  test("come one after the other, and equal calls after session or always are asked about once", async () => {
    const open: { question: ConsentQuestion; reply: (reply: ConsentReply) => void }[] = [];
    const ask: ConsentAsker = (question) => new Promise((reply) => open.push({ question, reply }));
    const desk = new ConsentDesk({ ask });
    const calls = [DELETE, DELETE, { ...DELETE, tool: "move" }].map((call) => desk.decide(call, never));
    await vi.waitFor(() => expect(open).toHaveLength(1));
    open[0]?.reply("session");
    await vi.waitFor(() => expect(open).toHaveLength(2));
    expect(open[1]?.question.tool).toBe("move");
    open[1]?.reply("no");
    expect((await Promise.all(calls)).map(({ kind }) => kind)).toEqual(["allowed", "allowed", "denied"]);
  });

  test("come in the order of the calls, also if it takes longest to look up what was decided about the first one", async () => {
    const asked: string[] = [];
    const ask = vi.fn<ConsentAsker>(async ({ tool }) => {
      asked.push(tool);
      return "once";
    });
    let found: (isKnown: boolean) => void = () => {};
    const has = vi.fn<RememberedDecisions["has"]>().mockResolvedValue(false);
    has.mockReturnValueOnce(new Promise((resolve) => (found = resolve)));
    const remembered = { has, remember: async () => {} } as unknown as RememberedDecisions;
    const desk = new ConsentDesk({ ask, remembered, definitionOf: () => definition() });
    const calls = ["delete", "move"].map((tool) => desk.decide({ ...DELETE, tool }, never));
    await nextRound();
    found(false);
    await Promise.all(calls);
    expect(asked).toEqual(["delete", "move"]);
  });

  test("an aborted question ends, and the next one is asked", async () => {
    const ask = vi.fn<ConsentAsker>(() => new Promise(() => {}));
    const desk = new ConsentDesk({ ask });
    const [first, waiting] = [new AbortController(), new AbortController()];
    const decided = desk.decide(DELETE, first.signal);
    const queued = desk.decide({ ...DELETE, tool: "move" }, waiting.signal);
    const last = desk.decide({ ...DELETE, tool: "copy" }, first.signal);
    await vi.waitFor(() => expect(ask).toHaveBeenCalledTimes(1));
    waiting.abort();
    await expect(queued).rejects.toMatchObject({ code: "CANCELLED" });
    first.abort();
    await expect(decided).rejects.toMatchObject({ code: "CANCELLED" });
    await expect(last).rejects.toMatchObject({ code: "CANCELLED" });
    ask.mockResolvedValue("once");
    expect(await desk.decide(DELETE, never)).toEqual({ kind: "allowed" });
    expect(ask.mock.calls.map(([{ tool }]) => tool)).toEqual(["delete", "delete"]);
  });

  test("show server, tool, arguments, annotations and where the server comes from, with nothing hidden", async () => {
    const ask = answering("no");
    const desk = new ConsentDesk({ ask, definitionOf: () => definition(["server.js", "--token=abc123def456"]) });
    const call = {
      ...DELETE,
      tool: "de\u202elete\u001b[2J",
      arguments: { path: "/tmp/\u001b[31m\u200b", text: `start${"x".repeat(5_000)}rm -rf /` },
      annotations: { title: "Harm\u0007less", destructiveHint: true, openWorldHint: "no" } as never,
    };
    await desk.decide(call, never);
    const [question] = ask.mock.calls[0] ?? [];
    expect(question).toMatchObject({
      server: "files",
      tool: "de\\u202elete\\x1b[2J",
      annotations: { title: "Harm\\x07less", destructiveHint: true },
      provenance: { file: "mcp.json:3" },
      canRemember: false,
    });
    expect(question?.annotations).not.toHaveProperty("openWorldHint");
    expect(question?.provenance?.reach).toMatch(/^node server\.js --token=/);
    expect(question?.provenance?.reach).not.toContain("abc123def456");
    expect(question?.arguments.isShortened).toBe(true);
    expect(question?.arguments.text).toContain("\\u001b[31m\\u200b");
    expect(question?.arguments.text).toContain("characters omitted");
    expect(question?.arguments.text).toContain("rm -rf /");
    expect(question?.arguments.whole).toContain("x".repeat(5_000));
  });
});
