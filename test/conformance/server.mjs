// The server that the official suite asks for, as a user of this package writes one: `nexus-mcp/server` and nothing else,
// with values checked, served by `serveHttp`.
import { setTimeout as pause } from "node:timers/promises";
import { McpServer, oneOf, serveHttp } from "nexus-mcp/server";
import { DEFAULTS, ENUMS, SCHEMA_2020_12 } from "./schemas.mjs";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";
const image = { type: "image", data: PNG, mimeType: "image/png" };
const embedded = (uri, mimeType, text) => ({ type: "resource", resource: { uri, mimeType, text } });

const text = { type: "string" };
const fields = (...names) => ({
  type: "object",
  properties: Object.fromEntries(names.map((name) => [name, text])),
  required: names,
});
const CONFIRMATION = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
const form = (message, requestedSchema) => ({
  method: "elicitation/create",
  params: { mode: "form", message, requestedSchema },
});
const sampling = (prompt, maxTokens) => ({
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text: prompt } }], maxTokens },
});
const elicited = ({ action, content }) =>
  `Elicitation completed: action=${action}, content=${JSON.stringify(content ?? {})}`;

const server = new McpServer({ name: "conformance", version: "1.0.0", ttlMs: 60_000 });

declareContent();
declareWork();
declareQuestions();
declareRounds();
declareChanges();
declareResources();
declarePrompts();

const serving = await serveHttp(server);
console.log(`listening on ${serving.url}`);
process.once("SIGTERM", () => void serving.close());

function declareContent() {
  server.tool("test_simple_text", { description: "Returns text" }, () => "This is a simple text response for testing.");
  server.tool("test_image_content", { description: "Returns an image" }, () => [image]);
  server.tool("test_audio_content", { description: "Returns a sound" }, () => [
    { type: "audio", data: WAV, mimeType: "audio/wav" },
  ]);
  server.tool("test_embedded_resource", { description: "Returns a resource" }, () => [
    embedded("test://embedded-resource", "text/plain", "This is an embedded resource content."),
  ]);
  server.tool("test_multiple_content_types", { description: "Returns several blocks" }, () => [
    { type: "text", text: "Multiple content types test:" },
    image,
    embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
  ]);
  server.tool("test_error_handling", { description: "Always fails" }, () => {
    throw new Error("This tool intentionally returns an error for testing");
  });
  server.tool("json_schema_2020_12_tool", { description: "Has many keywords", input: SCHEMA_2020_12 }, (args) =>
    JSON.stringify(args),
  );
  const region = { type: "string", "x-mcp-header": "Region" };
  const priority = { type: "integer", "x-mcp-header": "Priority" };
  const dryRun = { type: "boolean", "x-mcp-header": "Dry-Run" };
  const input = { type: "object", properties: { region, priority, dryRun, note: text } };
  server.tool("test_param_headers", { description: "Has arguments that are headers as well", input }, (args) =>
    JSON.stringify(args),
  );
}

function declareWork() {
  server.tool("test_tool_with_logging", { description: "Logs its steps" }, async (_args, { log, signal }) => {
    for (const step of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      log("info", step);
      await pause(50, undefined, { signal });
    }
    return "Logged.";
  });
  server.tool("test_logging_tool", { description: "Logs one line" }, (_args, { log }) => {
    log("info", "test_logging_tool was called");
    return "Logged.";
  });
  server.tool("test_tool_with_progress", { description: "Reports progress" }, async (_args, { progress, signal }) => {
    for (const done of [0, 50, 100]) {
      progress({ progress: done, total: 100, message: `${done} percent` });
      await pause(50, undefined, { signal });
    }
    return "Done.";
  });
  server.tool(
    "test_reconnection",
    { description: "Lets the client come back for the answer" },
    async (_args, context) => {
      context.pause(50);
      await pause(500, undefined, { signal: context.signal });
      return "Reconnection test completed.";
    },
  );
}

function declareQuestions() {
  server.tool(
    "test_sampling",
    { description: "Asks the model", input: fields("prompt") },
    async ({ prompt }, { ask }) => {
      const { answer } = await ask({ answer: sampling(prompt, 100) });
      return `LLM response: ${answer.content.text}`;
    },
  );
  server.tool(
    "test_elicitation",
    { description: "Asks the user", input: fields("message") },
    async ({ message }, { ask }) => {
      const { answer } = await ask({ answer: form(message, fields("username", "email")) });
      return `User response: ${JSON.stringify(answer)}`;
    },
  );
  asking("test_elicitation_sep1034_defaults", form("Please check these values", DEFAULTS));
  asking("test_elicitation_sep1330_enums", form("Please choose", ENUMS));
  server.tool("test_missing_capability", { description: "Needs a model" }, async (_args, { ask }) => {
    const { answer } = await ask({ answer: sampling("Say something", 10) });
    return answer.content.text;
  });
  server.tool("test_streaming_elicitation", { description: "Reports, then asks" }, async (_args, { ask, progress }) => {
    progress({ progress: 0, total: 1 });
    const { answer } = await ask({ answer: form("Go on?", CONFIRMATION) });
    return elicited(answer);
  });
}

function asking(name, question) {
  server.tool(name, { description: "Asks the user" }, async (_args, { ask }) =>
    elicited((await ask({ answer: question })).answer),
  );
}

function declareRounds() {
  const round = (name, run) =>
    server.tool(`test_input_required_result_${name}`, { description: `Asks: ${name}` }, (_args, context) =>
      run(context),
    );
  const name = form("What is your name?", fields("name"));
  const capital = sampling("What is the capital of France?", 100);
  const roots = { method: "roots/list" };
  const confirm = async ({ ask }) => {
    await ask({ confirm: form("Please confirm", CONFIRMATION) }, { sealed: true });
    return "Confirmed: state-ok";
  };
  round("elicitation", async ({ ask }) => `Hello, ${(await ask({ user_name: name })).user_name.content?.name}!`);
  round("sampling", async ({ ask }) => (await ask({ capital_question: capital })).capital_question.content.text);
  round("list_roots", async ({ ask }) => JSON.stringify((await ask({ client_roots: roots })).client_roots));
  round("request_state", confirm);
  round("tampered_state", confirm);
  round("multiple_inputs", async ({ ask }) => {
    const requests = { user_name: name, greeting: sampling("Generate a greeting", 50), client_roots: roots };
    return JSON.stringify(await ask(requests, { sealed: true }));
  });
  round("multi_round", async ({ ask }) => {
    const { step1 } = await ask({ step1: form("Step 1: What is your name?", fields("name")) }, { sealed: true });
    const { step2 } = await ask({ step2: form("Step 2: Which colour?", fields("color")) }, { sealed: true });
    return `${step1.content?.name} likes ${step2.content?.color}.`;
  });
  round("capabilities", async ({ ask, client }) => {
    const answers = await ask({
      ...(client.elicitation ? { user_name: name } : {}),
      ...(client.sampling ? { capital_question: capital } : {}),
      ...(client.roots ? { client_roots: roots } : {}),
    });
    return `${Object.keys(answers).length} answers`;
  });
}

function declareChanges() {
  const there = new Set();
  const toggle = (list, name, add) => {
    if (there.delete(name)) return server.remove(list, name);
    there.add(name);
    add();
  };
  server.tool("test_trigger_tool_change", { description: "Adds or removes a tool" }, () => {
    toggle("tools", "extra_tool", () => server.tool("extra_tool", {}, () => "Here for now."));
    return "The tools have changed.";
  });
  server.tool("test_trigger_prompt_change", { description: "Adds or removes a prompt" }, () => {
    toggle("prompts", "extra_prompt", () => server.prompt("extra_prompt", {}, () => "Here for now."));
    return "The prompts have changed.";
  });
}

function declareResources() {
  const shown = (contents) => () => ({ contents: [contents], cacheScope: "public" });
  const staticText = { uri: "test://static-text", mimeType: "text/plain", text: "This is the content." };
  server.resource("test://static-text", { name: "static-text", mimeType: "text/plain" }, shown(staticText));
  const staticBinary = { uri: "test://static-binary", mimeType: "image/png", blob: PNG };
  server.resource("test://static-binary", { name: "static-binary", mimeType: "image/png" }, shown(staticBinary));
  server.resource("test://watched-resource", { name: "watched", mimeType: "text/plain" }, () => "Watch me.");
  server.template(
    "test://template/{id}/data",
    { name: "template-data", mimeType: "application/json", complete: { id: oneOf("123", "124") } },
    (_uri, { id }) => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
  );
}

function declarePrompts() {
  const userSays = (...contents) => ({ messages: contents.map((content) => ({ role: "user", content })) });
  server.prompt("test_simple_prompt", { description: "Without arguments" }, () => "Say hello.");
  server.prompt(
    "test_prompt_with_arguments",
    {
      description: "With two arguments",
      input: fields("arg1", "arg2"),
      complete: { arg1: oneOf("tea", "test", "testing"), arg2: oneOf("hello", "world") },
    },
    ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  );
  server.prompt(
    "test_prompt_with_embedded_resource",
    { description: "With a resource inside", input: fields("resourceUri") },
    ({ resourceUri }) => userSays(embedded(resourceUri, "text/plain", "The resource inside the prompt.")),
  );
  server.prompt("test_prompt_with_image", { description: "With an image" }, () => userSays(image));
  server.prompt("test_input_required_result_prompt", { description: "Asks the user first" }, async (_args, { ask }) => {
    const { user_context } = await ask({ user_context: form("Which context?", fields("context")) });
    return `Use this context: ${user_context.content?.context}`;
  });
}
