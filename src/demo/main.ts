#!/usr/bin/env node
import { randomInt } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { LEGACY_REVISIONS } from "../protocol/revisions.ts";
import { McpServer } from "../server/features/mcp-server.ts";
import { serveStdio } from "../server/stdio/serve-stdio.ts";
import { oneOf } from "../server/features/completion.ts";

const COLOURS: Record<string, string> = { amber: "#ffbf00", coral: "#ff7f50", indigo: "#4b0082", teal: "#008080" };
const WELCOME = `# Welcome

This server exists to be connected to. It speaks every revision of the Model Context Protocol,
and shows one small thing of each kind: tools, resources, a template, a prompt.
`;
/** A teal square of one pixel. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkaGj4DwADhQIBzL6tlwAAAABJRU5ErkJggg==";

const TONES = ["cheerful", "formal", "poetic", "terse"];

/**
 * The demo server: `nexus-demo` over stdio, in every revision (with `--legacy`: before 2026-07-28), until its input
 * ends.
 */
const server = new McpServer({
  name: "nexus-demo",
  title: "Nexus demo server",
  version: "0.1.0",
  instructions: "A small server to try a client with. Begin with the tool `echo`, or ask it your name with `ask_name`.",
  revisions: process.argv.includes("--legacy") ? LEGACY_REVISIONS : undefined,
  ttlMs: 60_000,
});
addDemoTools(server);
addDemoResources(server);
addDemoPrompts(server);

// A client that has closed the pipe is gone or will end this process soon.
await serveStdio(server, { drainMs: 500 });

function addDemoPrompts(server: McpServer): void {
  server.prompt(
    {
      name: "postcard",
      title: "Write a postcard",
      description: "Asks the model for a postcard from a place, in a tone of your choice.",
      arguments: [
        { name: "place", description: "Where the postcard comes from", required: true },
        { name: "tone", description: `One of ${TONES.join(", ")}` },
      ],
    },
    ({ place, tone = "cheerful" }) => ({
      description: `A ${tone} postcard from ${place}`,
      messages: [
        {
          role: "user",
          content: { type: "text", text: `Write a ${tone} postcard from ${place}, in at most three sentences.` },
        },
      ],
    }),
    { complete: { tone: oneOf(...TONES), place: oneOf("Lisbon", "Ljubljana", "Reykjavik", "Vienna") } },
  );
}

function addDemoResources(server: McpServer): void {
  server.resource(
    {
      uri: "demo://welcome",
      name: "welcome",
      title: "Welcome",
      description: "What this server is for.",
      mimeType: "text/markdown",
      annotations: { audience: ["user", "assistant"], priority: 0.9 },
    },
    () => WELCOME,
  );
  server.resource(
    { uri: "demo://pixel", name: "pixel", title: "A pixel", description: "A tiny image.", mimeType: "image/png" },
    (uri) => [{ uri, mimeType: "image/png", blob: PIXEL }],
  );
  server.template(
    {
      uriTemplate: "demo://colours/{name}",
      name: "colour",
      title: "A colour",
      description: `The hexadecimal value of a colour: ${Object.keys(COLOURS).join(", ")}.`,
      mimeType: "application/json",
    },
    (_uri, { name }) => {
      const hex = Object.hasOwn(COLOURS, name) ? COLOURS[name] : undefined;
      return hex === undefined ? undefined : JSON.stringify({ name, hex });
    },
    { complete: { name: oneOf(...Object.keys(COLOURS)) } },
  );
}

function addDemoTools(server: McpServer): void {
  server.tool(
    "echo",
    {
      title: "Echo",
      description: "Returns the text it is given.",
      input: {
        type: "object",
        properties: { text: { type: "string", description: "What to return" } },
        required: ["text"],
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ text }) => text,
  );

  server.tool(
    "add",
    {
      title: "Add",
      description: "Adds two numbers; the sum comes as text and as structured content.",
      input: {
        type: "object",
        properties: { a: { type: "number" }, b: { type: "number" } },
        required: ["a", "b"],
      },
      output: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ a, b }) => ({ sum: a + b }),
  );

  server.tool(
    "roll_dice",
    {
      title: "Roll dice",
      description: "Rolls up to twenty dice and adds them up.",
      input: {
        type: "object",
        properties: {
          count: { type: "integer", minimum: 1, maximum: 20, default: 2 },
          sides: { type: "integer", minimum: 2, maximum: 1000, default: 6 },
        },
      },
      output: {
        type: "object",
        properties: { rolls: { type: "array", items: { type: "integer" } }, total: { type: "integer" } },
        required: ["rolls", "total"],
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    ({ count = 2, sides = 6 }) => {
      const rolls = Array.from({ length: count }, () => randomInt(1, sides + 1));
      return { rolls, total: rolls.reduce((total, roll) => total + roll, 0) };
    },
  );

  server.tool(
    "slow_count",
    {
      title: "Count slowly",
      description: "Counts with a pause before each number, and reports progress; cancel it to see it stop.",
      input: {
        type: "object",
        properties: {
          to: { type: "integer", minimum: 1, maximum: 1000, default: 5 },
          pauseMs: { type: "integer", minimum: 0, maximum: 10_000, default: 300 },
        },
      },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    async ({ to = 5, pauseMs = 300 }, { progress, log, signal }) => {
      log("info", `Counting to ${to}.`, "slow_count");
      for (let counted = 1; counted <= to; counted += 1) {
        await pause(pauseMs, undefined, { signal });
        progress({ progress: counted, total: to, message: `${counted} of ${to}` });
      }
      return `Counted to ${to}.`;
    },
  );

  server.tool(
    "ask_name",
    {
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
      } as const;
      const params = { mode: "form", message: "Who is there?", requestedSchema };
      const { visitor } = await ask({ visitor: { method: "elicitation/create", params } });
      if (visitor.action !== "accept") return "As you like. Good day, stranger!";
      const { name, mood } = visitor.content;
      return `Hello, ${name}!${mood === undefined ? "" : ` Have a ${mood} day.`}`;
    },
  );
}
