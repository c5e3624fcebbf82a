import { randomInt } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { isRecord } from "../json/is-record.ts";
import {
  integerArgument,
  numberArgument,
  stringArgument,
  structuredResult,
  textResult,
} from "../server/features/arguments.ts";
import type { McpServer } from "../server/features/mcp-server.ts";

export function addDemoTools(server: McpServer): void {
  server.tool(
    {
      name: "echo",
      title: "Echo",
      description: "Returns the text it is given.",
      inputSchema: {
        type: "object",
        properties: { text: { type: "string", description: "What to return" } },
        required: ["text"],
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    (args) => textResult(stringArgument(args, "text")),
  );

  server.tool(
    {
      name: "add",
      title: "Add",
      description: "Adds two numbers; the sum comes as text and as structured content.",
      inputSchema: {
        type: "object",
        properties: { a: { type: "number" }, b: { type: "number" } },
        required: ["a", "b"],
      },
      outputSchema: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    (args) => structuredResult({ sum: numberArgument(args, "a") + numberArgument(args, "b") }),
  );

  server.tool(
    {
      name: "roll_dice",
      title: "Roll dice",
      description: "Rolls up to twenty dice and adds them up.",
      inputSchema: {
        type: "object",
        properties: {
          count: { type: "integer", minimum: 1, maximum: 20, default: 2 },
          sides: { type: "integer", minimum: 2, maximum: 1000, default: 6 },
        },
      },
      outputSchema: {
        type: "object",
        properties: { rolls: { type: "array", items: { type: "integer" } }, total: { type: "integer" } },
        required: ["rolls", "total"],
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    (args) => {
      const count = integerArgument(args, "count", { min: 1, max: 20, fallback: 2 });
      const sides = integerArgument(args, "sides", { min: 2, max: 1000, fallback: 6 });
      const rolls = Array.from({ length: count }, () => randomInt(1, sides + 1));
      return structuredResult({ rolls, total: rolls.reduce((total, roll) => total + roll, 0) });
    },
  );

  server.tool(
    {
      name: "slow_count",
      title: "Count slowly",
      description: "Counts with a pause before each number, and reports progress; cancel it to see it stop.",
      inputSchema: {
        type: "object",
        properties: {
          to: { type: "integer", minimum: 1, maximum: 1000, default: 5 },
          pauseMs: { type: "integer", minimum: 0, maximum: 10_000, default: 300 },
        },
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    async (args, { progress, log, signal }) => {
      const to = integerArgument(args, "to", { min: 1, max: 1000, fallback: 5 });
      const pauseMs = integerArgument(args, "pauseMs", { min: 0, max: 10_000, fallback: 300 });
      log("info", `Counting to ${to}.`, "slow_count");
      for (let counted = 1; counted <= to; counted += 1) {
        await pause(pauseMs, undefined, { signal });
        progress({ progress: counted, total: to, message: `${counted} of ${to}` });
      }
      return textResult(`Counted to ${to}.`);
    },
  );

  server.tool(
    {
      name: "ask_name",
      title: "Ask for a name",
      description: "Asks the user for a name and a mood, then greets them.",
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    async (_args, { ask }) => {
      const requestedSchema = {
        type: "object",
        properties: {
          name: { type: "string", title: "Name", description: "How shall I call you?", minLength: 1 },
          mood: { type: "string", title: "Mood", enum: ["sunny", "cloudy", "stormy"], default: "sunny" },
        },
        required: ["name"],
      };
      const params = { mode: "form", message: "Who is there?", requestedSchema };
      const { visitor } = await ask({ visitor: { method: "elicitation/create", params } });
      const content = visitor?.["content"];
      if (visitor?.["action"] !== "accept" || !isRecord(content)) return textResult("As you like. Good day, stranger!");
      const mood = typeof content["mood"] === "string" ? ` Have a ${content["mood"]} day.` : "";
      return textResult(`Hello, ${String(content["name"])}!${mood}`);
    },
  );
}
