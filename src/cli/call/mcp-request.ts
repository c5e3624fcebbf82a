import { nearestName } from "../../text/nearest-name.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { visibleLines } from "../../text/visible.ts";
import { requestTarget } from "../../host/directory/access-target.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Params } from "../../protocol/json-rpc.ts";
import { asksAnyone, defineCommand, IN_PLACE, TENANT } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { exitCodeOf } from "../output/exit-codes.ts";
import { withCapabilityAdvice } from "./capability-advice.ts";
import { requireAccepted } from "../command/pinned-lists.ts";
import {
  getCalled,
  requireAllowed,
  requireAllowedInside,
  shownByEntry,
  targetIn,
  withAllowedTools,
} from "../command/entry-rules.ts";
import { SHOWN_META } from "../../protocol/meta.ts";
import { isSearching } from "../../protocol/shown-tools.ts";
import { jsonGiven } from "../arguments/json-given.ts";
import { sizeLimit, SIZE_LIMIT } from "./size-limit.ts";

const METHOD_NOT_FOUND = -32601;

/** Known methods, for suggestions after a typing error. */
const METHODS =
  `ping server/discover tools/list tools/call resources/list resources/templates/list resources/read resources/subscribe
  resources/unsubscribe prompts/list prompts/get completion/complete logging/setLevel tasks/get tasks/result tasks/list
  tasks/cancel subscriptions/listen`.split(/\s+/);

/** nexus mcp request github tools/list '{"cursor":"abc"}' */
export const request = defineCommand({
  usage: "nexus mcp request <server> <method> [JSON | @file | -]",
  description: `Sends one request and prints its result without further processing: one page of a list, or a question of the server
(input_required). The last argument is the request's params: JSON, @file, or - for stdin. Tools that the "tools" rules of
the server's entry deny are hidden and rejected. With such rules, methods that MCP does not define are also rejected.`,
  words: { min: 1, max: 3 },
  options: { ...SIZE_LIMIT, ...IN_PLACE, ...TENANT },
  examples: [
    ["nexus mcp request github tools/list", "the first page of the tools, as the server sends it"],
    [`nexus mcp request github resources/read '{"uri":"file:///a.txt"}'`, "send a request with params"],
    ["nexus mcp request github tools/call @call.json --json", "read params from a file, print the result on one line"],
    ["nexus mcp request --url http://127.0.0.1:3000/mcp acme/status", "call a method that only this server has"],
  ],

  async run(context) {
    const { words, options, out, signal } = context;
    const maxMessageBytes = sizeLimit(options["max-size"]);
    await using servers = await context.openServers(asksAnyone);
    const { definition, rest } = servers.pickFirst(words);
    const [method, json, more] = rest;
    if (method === undefined)
      throw wrongUsage(
        "The method is missing",
        `Add a method: nexus mcp request${servers.wordsFor(definition.id)} tools/list`,
      );
    if (more !== undefined)
      throw wrongUsage(`"nexus mcp request" has one argument too many: "${more}"`, "Put the JSON in quotes.");
    const params = json === undefined ? undefined : paramsIn(await jsonGiven(json, "JSON"));
    const { id: server } = definition;
    const isApiCall = method === "tools/call" && definition.entry?.reach.kind === "api";
    // Which tool of an API a call is for is known with its list.
    if (!isApiCall) await requireAllowed(servers, requestTarget(server, method, params));
    const client = await servers.connect(definition, { signal, maxMessageBytes, input: undefined });
    const isRuled = definition.pin !== undefined || !servers.directory.policy.isOpen("tool", server);
    let meta: Params | undefined;
    let sent = params;
    if (method === "tools/call" && isRuled) {
      const items = await client.listTools({ signal });
      const name = String(params?.["name"]);
      const tool = [...items, ...client.searchedIn(items)].find((each) => each.name === name);
      const target = tool && targetIn(definition, client, items, tool);
      if (isApiCall) await requireAllowed(servers, target ?? requestTarget(server, method, params));
      if (tool) await requireAllowedInside(servers, definition, tool, params?.["arguments"]);
      if (definition.pin !== undefined)
        await requireAccepted(servers, definition, { kind: "tools", client, items, name });
      if (tool && isSearching(tool)) {
        const listing = { definition, client, items };
        const called = await getCalled(servers, listing, { tool, arguments: params?.["arguments"] });
        if (called.tool !== tool) sent = { ...params, name: called.tool.name, arguments: called.arguments };
        const shown = shownByEntry(servers, listing);
        meta = shown && { [SHOWN_META]: shown };
      }
    }
    const answer = await client.request(method, sent, { signal, ...(meta && { meta }) }).catch((error: unknown) => {
      throw error instanceof NexusError ? advised(error, method).with({ server }) : error;
    });
    const result = method === "tools/list" ? withAllowedTools(servers, server, answer) : answer;
    if (out.json) out.value(result);
    else out.line(visibleLines(JSON.stringify(result, undefined, 2)));
    // A tool error: the same exit code as for a protocol error.
    return result["isError"] === true ? exitCodeOf(new NexusError("SERVER_ERROR", "")) : 0;
  },
});

function paramsIn(value: unknown): Params {
  if (isRecord(value)) return value;
  throw wrongUsage("The params are not a JSON object", `Use '{"key":"value"}'. MCP params always have names.`);
}

function advised(error: NexusError, method: string): NexusError {
  if (error.details.rpc?.code !== METHOD_NOT_FOUND) return withCapabilityAdvice(error);
  const near = METHODS.includes(method) ? undefined : nearestName(method, METHODS);
  const hint =
    near === undefined
      ? 'The server does not support this method. "nexus mcp connect" shows its capabilities.'
      : `Did you mean "${near}"?`;
  return error.with({ hint });
}
