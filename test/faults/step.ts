import { deepStrictEqual as equal, fail, ok } from "node:assert/strict";
import type { CallToolResult, Client, InputProvider, InputResult, Progress } from "../../src/index.ts";
import { isRecord } from "../../src/json/is-record.ts";

/** Something that a client does, whose right answer is known. */
export type Step =
  | { kind: "list" | "progress" | "read" }
  | { kind: "echo"; text: string; times: number }
  | { kind: "add"; a: number; b: number }
  /** A tool that promises nothing about being called twice. */
  | { kind: "once"; text: string }
  | { kind: "ask"; name: string }
  | { kind: "abort"; afterMs: number };

/** How often the server may get a step: hints of the tool allow one more try, and questions a second round. */
export const MOST_CALLS: Record<Step["kind"], number> = {
  list: Infinity,
  read: Infinity,
  echo: 2,
  add: 2,
  once: 1,
  abort: 1,
  progress: 1,
  ask: 1,
};

const USED_TOOLS = ["echo", "add_numbers", "json_schema_2020_12_tool", "sleep", "test_elicitation"];
/** A sleep that is always cancelled, or ends with the server. */
const SLEEP_MS = 60_000;

/** Throws where the answer is not the right one. */
type Check = () => void;

/**
 * Does a step; the check tells whether its answer was right. They are apart so that a client that throws is not taken
 * for an answer that is wrong. `key` goes with every tool call: by it the server's transcript tells calls apart.
 */
export async function doStep(client: Client, step: Step, key: string): Promise<Check> {
  switch (step.kind) {
    case "list": {
      const tools = await client.listTools();
      return () => {
        const names = tools.map(({ name }) => name);
        for (const name of USED_TOOLS) ok(names.includes(name), `${name} is missing`);
        equal(new Set(names).size, names.length, "a tool was listed twice");
      };
    }
    case "read": {
      const { contents } = await client.readResource(`test://template/${key}/data`);
      const data = { id: key, templateTest: true, data: `Data for ID: ${key}` };
      return () => equal(JSON.parse(contents[0]?.text ?? ""), data);
    }
    case "echo": {
      const text = step.text.repeat(step.times);
      const result = await client.callTool("echo", { text, key });
      return () => equal(textOf(result), text);
    }
    case "add": {
      const result = await client.callTool("add_numbers", { a: step.a, b: step.b, key });
      return () => equal(JSON.parse(textOf(result)), { sum: step.a + step.b });
    }
    case "once": {
      const args = { name: step.text, key };
      const result = await client.callTool("json_schema_2020_12_tool", args);
      return () => equal(JSON.parse(textOf(result)), args);
    }
    case "progress": {
      const seen: number[] = [];
      const onProgress = ({ progress }: Progress) => seen.push(progress);
      const result = await client.callTool("test_tool_with_progress", { key }, { onProgress });
      return () => {
        equal(textOf(result), "Done.");
        equal(
          seen.filter((value) => ![0, 50, 100].includes(value)),
          [],
          "progress that nobody made",
        );
      };
    }
    case "ask": {
      const message = `${key} ${step.name}`;
      const result = await client.callTool("test_elicitation", { message, key });
      return () => equal(JSON.parse(textOf(result).replace("User response: ", "")), answerTo(message));
    }
    case "abort": {
      const controller = new AbortController();
      const timer = setTimeout(() => controller.abort(), step.afterMs);
      await client
        .callTool("sleep", { ms: SLEEP_MS, key }, { signal: controller.signal })
        .finally(() => clearTimeout(timer));
      return () => fail("the call outlived its cancellation");
    }
  }
}

/** Answers `ask` steps, each with something of its own. */
export const answering: InputProvider = {
  capabilities: { elicitation: { form: {} } },
  handle: ({ params }) => answerTo(String(params?.["message"])),
};

function answerTo(message: string): InputResult {
  return { action: "accept", content: { username: message, email: "ada@example.org" } };
}

/** Which step a message to the server belongs to, and in which round of it. */
export function stepOf(message: unknown): { key: string; round: "first" | "answer" } | undefined {
  if (!isRecord(message) || message["method"] !== "tools/call" || !isRecord(message["params"])) return undefined;
  const { arguments: args, inputResponses } = message["params"];
  if (!isRecord(args) || typeof args["key"] !== "string") return undefined;
  return { key: args["key"], round: inputResponses === undefined ? "first" : "answer" };
}

function textOf({ content, isError }: CallToolResult): string {
  ok(!isError, `the tool failed: ${JSON.stringify(content)}`);
  const [first] = content;
  ok(first?.type === "text" && typeof first["text"] === "string", "the answer is no text");
  return first["text"];
}
