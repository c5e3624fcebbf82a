import { isRecord } from "../../src/json/is-record.ts";
import type { Params, Result } from "../../src/protocol/json-rpc.ts";
import type { Endpoint, Feature } from "./definition.ts";
import { type Answers, type Party, until } from "./party.ts";
import { type MatrixWorld, SERVER } from "./world.ts";

/** What a cell has to work with. */
export interface Cell {
  world: MatrixWorld;
  party: Party;
  endpoint: Endpoint;
  answers: Answers;
  /** Text that nothing before had in it. */
  mark: string;
  /** How long the server's transcript was when it began. */
  from: number;
}

/** A proof uses the feature as the client and then finds it in the server's own transcript. */
export const PROOFS: Record<Feature, (cell: Cell) => Promise<void>> = {
  async tools(cell) {
    mustHold("the tool is listed", named(await toolsOf(cell), "name", toolName(cell, "greet")));
    mustHold("its result comes back", holds(await callTool(cell, "greet", { name: cell.mark }), cell.mark));
    await received(cell, "tools/call", (params) => params["name"] === "greet" && holds(params, cell.mark));
  },

  async resources(cell) {
    const uri = uriOf(cell, "test://static-text");
    const { resources } = await cell.party.call("resources/list", {});
    mustHold("the resource is listed", named(resources, "uri", uri));
    mustHold("it is read", holds(await cell.party.call("resources/read", { uri }), "static text resource"));
    await received(cell, "resources/read", (params) => params["uri"] === "test://static-text");
  },

  async templates(cell) {
    const { resourceTemplates } = await cell.party.call("resources/templates/list", {});
    const template = uriOf(cell, "test://template/{id}/data");
    mustHold("the template is listed", named(resourceTemplates, "uriTemplate", template));
    const own = `test://template/${cell.mark}/data`;
    const read = await cell.party.call("resources/read", { uri: uriOf(cell, own) });
    mustHold("it is read", holds(read, `Data for ID: ${cell.mark}`));
    await received(cell, "resources/read", (params) => params["uri"] === own);
  },

  async prompts(cell) {
    const name = toolName(cell, "test_prompt_with_arguments");
    const { prompts } = await cell.party.call("prompts/list", {});
    mustHold("the prompt is listed", named(prompts, "name", name));
    const got = await cell.party.call("prompts/get", { name, arguments: { arg1: cell.mark, arg2: "b" } });
    mustHold("it is filled in", holds(got, cell.mark));
    await received(cell, "prompts/get", (params) => holds(params, cell.mark));
  },

  async completion(cell) {
    const ref = { type: "ref/resource", uri: uriOf(cell, "test://template/{id}/data") };
    const completed = await cell.party.call("completion/complete", { ref, argument: { name: "id", value: "12" } });
    mustHold("values are proposed", holds(completed, `["123","124"]`));
    await received(cell, "completion/complete", (params) => holds(params["ref"], "test://template/{id}/data"));
  },

  async progress(cell) {
    const reports: unknown[] = [];
    await callTool(cell, "test_tool_with_progress", {}, { onProgress: ({ progress }) => reports.push(progress) });
    mustHold(`progress came in order, before the answer: ${reports.join()}`, reports.join() === "0,50,100");
    await sent(cell, "notifications/progress", (params) => params["progress"] === 100);
  },

  async cancellation(cell) {
    const { world } = cell;
    const before = world.cancelled;
    const leaving = new AbortController();
    const calling = callTool(cell, "sleep", { ms: 600_000 }, { signal: leaving.signal }).then(
      () => "answered",
      () => "cancelled",
    );
    let sleeping: unknown;
    await world.sees("in", { what: "the call", from: cell.from }, ({ id, method, params }) => {
      const isIt = method === "tools/call" && isRecord(params) && params["name"] === "sleep";
      if (isIt) sleeping = id;
      return isIt;
    });
    leaving.abort();
    mustHold("the client's call ends", (await calling) === "cancelled");
    if (world.upstream.name === "modern HTTP") {
      await until("the server's call is cancelled", () => world.cancelled > before);
    } else await received(cell, "notifications/cancelled", ({ requestId }) => requestId === sleeping);
  },

  async logging(cell) {
    const { party } = cell;
    const already = party.told.length;
    await callTool(cell, "test_tool_with_logging", {}, { logLevel: "info" });
    await until("three log messages at the client", () => {
      return party.told.slice(already).filter(({ method }) => method === "notifications/message").length >= 3;
    });
    await sent(cell, "notifications/message", (params) => holds(params, "Tool execution completed"));
  },

  async "list-changed"(cell) {
    const { party } = cell;
    await party.watch({ tools: true });
    const already = party.told.length;
    await callTool(cell, "test_trigger_tool_change", {});
    await until("the change at the client", () => {
      return party.told.slice(already).some(({ method }) => method === "notifications/tools/list_changed");
    });
    await sent(cell, "notifications/tools/list_changed", () => true);
  },

  async "resource updates"(cell) {
    const { party } = cell;
    const own = "test://watched-resource";
    const uri = uriOf(cell, own);
    await party.watch({ uri });
    const already = party.told.length;
    await callTool(cell, "update_resource", { uri: own });
    await until("the update at the client", () => {
      const news = party.told.slice(already);
      return news.some(({ method, params }) => method === "notifications/resources/updated" && params?.["uri"] === uri);
    });
    await sent(cell, "notifications/resources/updated", (params) => params["uri"] === own);
  },

  async sampling(cell) {
    const result = await callTool(cell, "test_sampling", { prompt: "How are you?" });
    mustHold(`the answer is used: ${JSON.stringify(result)}`, holds(result, `LLM response: ${cell.mark}`));
    await answered(cell);
  },

  async "elicitation form"(cell) {
    const result = await callTool(cell, "test_elicitation", { message: "Who are you?" });
    mustHold(`the answer is used: ${JSON.stringify(result)}`, holds(result, cell.mark));
    await answered(cell);
  },

  async "elicitation URL"(cell) {
    const result = await callTool(cell, "elicit_url", { url: `https://example.com/${cell.mark}` });
    mustHold(`the answer is used: ${JSON.stringify(result)}`, holds(result, "action=accept"));
    await cell.world.sees("out", { what: "the question", from: cell.from }, (message) => holds(message, cell.mark));
    await cell.world.sees("in", { what: "the user's consent", from: cell.from }, (message) => {
      return holds(message["result"] ?? inputResponses(message), `"accept"`);
    });
  },

  async "several rounds"(cell) {
    const result = await callTool(cell, "sample_twice", {});
    mustHold(`both answers are used: ${JSON.stringify(result)}`, holds(result, `${cell.mark} and ${cell.mark}`));
    const rounds = new Set<unknown>();
    await cell.world.sees("in", { what: "two answers", from: cell.from }, (message) => {
      if (isAnswer(message, cell.mark)) rounds.add(message["id"]);
      return rounds.size === 2;
    });
  },

  async roots(cell) {
    const result = await callTool(cell, "ask_roots", {});
    mustHold(`the answer is used: ${JSON.stringify(result)}`, holds(result, cell.mark));
    await answered(cell);
  },

  /** A client that follows tasks gets one; for the others the gateway does. */
  async tasks(cell) {
    let result = await callTool(cell, "failing_job", {});
    const { taskId } = result;
    if (result.resultType === "task") {
      await until("the task's end", async () => {
        result = await cell.party.call("tasks/get", { taskId });
        return result["status"] === "completed";
      });
    }
    mustHold(`its result comes: ${JSON.stringify(result)}`, holds(result, "The job has failed."));
    await cell.world.sees("out", { what: "a task", from: cell.from }, ({ result: created }) => {
      return isRecord(created) && (created["resultType"] === "task" || isRecord(created["task"]));
    });
  },
};

function callTool(cell: Cell, name: string, args: Params, options?: Parameters<Party["call"]>[2]): Promise<Result> {
  const called = { name: toolName(cell, name), arguments: args };
  const asked = isSearched(cell) ? { name: "call_tool", arguments: called } : called;
  return cell.party.call("tools/call", asked, options);
}

/** Whether its tools are found, and called with call_tool. */
function isSearched({ endpoint }: Cell): boolean {
  return endpoint === "/search/mcp";
}

/** The tools that the client can see: those of a search view are found. */
async function toolsOf(cell: Cell): Promise<unknown> {
  const { tools } = await cell.party.call("tools/list", {});
  if (!isSearched(cell)) return tools;
  const names = (tools as { name: string }[]).map(({ name }) => name).join();
  mustHold(`three tools are listed: ${names}`, names === "search_tools,describe_tool,call_tool");
  const found = await cell.party.call("tools/call", { name: "search_tools", arguments: { query: "greet" } });
  // Older revisions have no structured results.
  const name = toolName(cell, "greet");
  return holds(found["content"], `- ${name}(`) ? [{ name }] : [];
}

/** Where all servers are shown, names say whose they are. */
function toolName({ endpoint }: Cell, name: string): string {
  return endpoint === "/servers/<id>/mcp" ? name : `${SERVER}__${name}`;
}

function uriOf({ endpoint }: Cell, uri: string): string {
  return endpoint === "/servers/<id>/mcp" ? uri : `${SERVER}+${uri}`;
}

function received(cell: Cell, method: string, fits: (params: Params) => boolean): Promise<void> {
  return cell.world.sees("in", { what: method, from: cell.from }, isMessage(method, fits));
}

function sent(cell: Cell, method: string, fits: (params: Params) => boolean): Promise<void> {
  return cell.world.sees("out", { what: method, from: cell.from }, isMessage(method, fits));
}

function isMessage(method: string, fits: (params: Params) => boolean) {
  return (message: Record<string, unknown>) => {
    return message["method"] === method && fits(isRecord(message["params"]) ? message["params"] : {});
  };
}

/** The client's answer reached the server: as a response, or with the next round. */
function answered(cell: Cell): Promise<void> {
  const what = "the client's answer";
  return cell.world.sees("in", { what, from: cell.from }, (message) => isAnswer(message, cell.mark));
}

function isAnswer(message: Record<string, unknown>, mark: string): boolean {
  return holds(message["result"] ?? inputResponses(message), mark);
}

function inputResponses({ params }: Record<string, unknown>): unknown {
  return isRecord(params) ? params["inputResponses"] : undefined;
}

function named(list: unknown, member: string, name: string): boolean {
  return Array.isArray(list) && list.some((one) => isRecord(one) && one[member] === name);
}

function holds(value: unknown, text: string): boolean {
  return value !== undefined && JSON.stringify(value).includes(text);
}

function mustHold(what: string, isSo: boolean): void {
  if (!isSo) throw new Error(`Not so: ${what}`);
}
