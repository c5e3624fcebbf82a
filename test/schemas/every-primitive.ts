import { type Client, type InputProvider, NexusError } from "../../src/index.ts";
import { isRecord } from "../../src/json/is-record.ts";

export const CAPABILITIES = {
  elicitation: { form: {}, url: {} },
  sampling: { tools: {} },
  roots: { listChanged: true },
};
const WATCHED = "test://watched-resource";

/** Answers anything that the test server asks. */
export const answerAnything: InputProvider["handle"] = ({ method, params }) => {
  if (method === "roots/list") return { roots: [{ uri: "file:///srv/project", name: "project" }] };
  if (method === "sampling/createMessage") {
    const answer = { role: "assistant" as const, model: "test" };
    if (!params?.["tools"]) return { ...answer, content: { type: "text", text: "42" } };
    const use = { type: "tool_use", id: "1", name: "weather", input: { city: "Vienna" } };
    return { ...answer, content: use, stopReason: "toolUse" };
  }
  return params?.["mode"] === "url" ? { action: "accept" } : { action: "accept", content: filledIn(params) };
};

/** Uses everything that a server of this revision has, in a fixed order. */
export async function useEverything(client: Client): Promise<void> {
  await client.listTools();
  await client.listResources();
  await client.listResourceTemplates();
  await client.listPrompts();
  await client.ping();
  await client.setLogLevel("debug");
  await client.setRoots([{ uri: "file:///srv/other" }]);
  for (const [name, args] of callsOf(client.protocolVersion)) await client.callTool(name, args);
  await useProgress(client);
  await useResources(client);
  await usePrompts(client);
  await cancelOne(client);
  await subscribe(client);
  if (client.era === "modern") await listenToTheEnd(client);
  if (client.protocolVersion === "2025-11-25") {
    await useTasks(client);
    const urlRequired = { name: "url_required", arguments: { url: "https://example.com" } };
    await refused(client.request("tools/call", urlRequired));
  }
  await refused(client.callTool("no_such_tool"));
}

type Call = [name: string, args?: Record<string, unknown>];

/** Tools by the revision whose schema first has what they answer or ask. */
function callsOf(revision: string): Call[] {
  const calls: [since: string, ...Call[]][] = [
    [
      "2024-11-05",
      ["test_simple_text"],
      ["test_image_content"],
      ["test_embedded_resource"],
      ["test_multiple_content_types"],
      ["test_error_handling"],
      ["echo", { text: "Grüße" }],
      ["add_numbers", { a: 1, b: 2 }],
      ["json_schema_2020_12_tool", { name: "Ada", contactMethod: "email", email: "a@b.c" }],
      ["test_param_headers", { region: "eu", priority: 3, dryRun: true, place: { city: "Graz" } }],
      ["test_tool_with_logging"],
      ["test_sampling", { prompt: "Why?" }],
      ["ask_roots"],
      ["test_input_required_result_sampling"],
      ["test_input_required_result_list_roots"],
    ],
    ["2025-03-26", ["test_audio_content"]],
    [
      "2025-06-18",
      ["test_elicitation", { message: "Who?" }],
      ["test_elicitation_sep1034_defaults"],
      ["test_streaming_elicitation"],
      ["ask_twice"],
      ["test_input_required_result_multiple_inputs"],
      ["test_input_required_result_multi_round"],
    ],
    [
      "2025-11-25",
      ["test_elicitation_sep1330_enums"],
      ["sample_with_tools"],
      ["elicit_url", { url: "https://example.com/login" }],
    ],
  ];
  return calls.filter(([since]) => since <= revision).flatMap(([, ...tools]) => tools);
}

async function useProgress(client: Client): Promise<void> {
  await client.callTool("test_tool_with_progress", {}, { onProgress: () => {} });
}

async function useResources(client: Client): Promise<void> {
  for (const name of ["static-text", "static-binary", "template/123/data"]) await client.readResource(`test://${name}`);
  await refused(client.readResource("test://nothing-here"));
}

async function usePrompts(client: Client): Promise<void> {
  await client.getPrompt("test_simple_prompt");
  await client.getPrompt("test_prompt_with_arguments", { arg1: "a", arg2: "b" });
  await client.getPrompt("test_prompt_with_embedded_resource", { resourceUri: "test://x" });
  await client.getPrompt("test_prompt_with_image");
  await client.complete({ type: "ref/prompt", name: "test_prompt_with_arguments" }, { name: "arg1", value: "te" });
  const template = { type: "ref/resource", uri: "test://template/{id}/data" } as const;
  await client.complete(template, { name: "id", value: "1" });
}

/** Cancelled once it is under way: the call after it was answered. */
async function cancelOne(client: Client): Promise<void> {
  const abort = new AbortController();
  const sleeping = refused(client.callTool("sleep", { ms: 60_000 }, { signal: abort.signal }));
  await client.callTool("echo", { text: "it is under way" });
  abort.abort();
  await sleeping;
}

const CHANGES = {
  "notifications/tools/list_changed": ["test_trigger_tool_change"],
  "notifications/prompts/list_changed": ["test_trigger_prompt_change"],
  "notifications/resources/list_changed": ["test_trigger_resource_change"],
  "notifications/resources/updated": ["update_resource", { uri: WATCHED }],
} satisfies Record<string, Call>;

async function makeChanges(client: Client): Promise<void> {
  for (const [method, [name, args]] of Object.entries(CHANGES) as [string, Call][]) {
    const told = heard(client, method);
    await client.callTool(name, args);
    await told;
  }
}

async function subscribe(client: Client): Promise<void> {
  const lists = ["tools", "prompts", "resources"] as const;
  await using subscription = await client.subscribe({ lists, resources: ["test://static-text"] }, () => {});
  await subscription.update({ lists, resources: [WATCHED] });
  await makeChanges(client);
}

/** A stream that the server ends has a result, which our own subscriptions never wait for. */
async function listenToTheEnd(client: Client): Promise<void> {
  const acknowledged = heard(client, "notifications/subscriptions/acknowledged");
  const listening = client.request("subscriptions/listen", { notifications: { toolsListChanged: true } });
  await acknowledged;
  await client.callTool("end_subscriptions");
  await listening;
}

async function useTasks({ tasks }: Client): Promise<void> {
  const ended = taskIn(await tasks.start("slow_compute", { seconds: 0 }));
  await tasks.get(ended);
  await tasks.list();
  await tasks.wait(ended);
  await tasks.wait(taskIn(await tasks.start("confirm_delete")));
  await tasks.cancel(taskIn(await tasks.start("slow_compute", { seconds: 60 }, { ttlMs: 60_000 })));
}

function taskIn(started: Awaited<ReturnType<Client["tasks"]["start"]>>): string {
  if (started.kind !== "task") throw new Error("expected a task", { cause: started });
  return started.task.taskId;
}

function heard(client: Client, wanted: string): Promise<void> {
  return new Promise((resolve) => {
    const stop = client.onNotification(({ method }) => {
      if (method !== wanted) return;
      stop();
      resolve();
    });
  });
}

/** Fails if the server does not refuse: then the transcript would lack what it is for. */
async function refused(call: Promise<unknown>): Promise<void> {
  const outcome = await call.catch((error: unknown) => error);
  if (!(outcome instanceof NexusError)) throw new Error("expected a refusal", { cause: outcome });
}

function filledIn(params: Record<string, unknown> | undefined): Record<string, unknown> {
  const schema = params?.["requestedSchema"];
  const properties = isRecord(schema) && isRecord(schema["properties"]) ? schema["properties"] : {};
  return Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, valueFor(field)]));
}

function valueFor(field: unknown): unknown {
  if (!isRecord(field)) return "x";
  const { type, items, oneOf, enum: choices } = field;
  if (type === "boolean") return true;
  if (type === "integer" || type === "number") return 1;
  if (type === "array") return [valueFor(items)];
  const options: unknown = choices ?? oneOf ?? field["anyOf"];
  const first: unknown = Array.isArray(options) ? options[0] : "x";
  return isRecord(first) ? first["const"] : first;
}
