import { nearestName } from "../../text/nearest-name.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { visibleLines } from "../../text/visible.ts";
import { requestTarget } from "../../host/directory/access-target.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Params } from "../../protocol/json-rpc.ts";
import { asksAnyone, defineCommand, IN_PLACE } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { exitCodeOf } from "../output/exit-codes.ts";
import { withCapabilityAdvice } from "./capability-advice.ts";
import { requireAllowed, withAllowedTools } from "../command/entry-rules.ts";
import { jsonGiven } from "../arguments/json-given.ts";
import { sizeLimit, SIZE_LIMIT } from "./size-limit.ts";

const METHOD_NOT_FOUND = -32601;

/** What servers know, for those who mistype it. */
const METHODS =
  `ping server/discover tools/list tools/call resources/list resources/templates/list resources/read resources/subscribe
  resources/unsubscribe prompts/list prompts/get completion/complete logging/setLevel tasks/get tasks/result tasks/list
  tasks/cancel subscriptions/listen`.split(/\s+/);

/** nexus mcp request github tools/list '{"cursor":"abc"}' */
export const request = defineCommand({
  usage: "nexus mcp request <server> <method> [JSON | @file | -]",
  description: `One exchange, without anything done for you: one page of a list, a question of the server (input_required) as
the result. The last word is the request's params: JSON, the name of a file with it, or - for stdin. Tools that the server's
entry denies ("tools") are left out and refused; where it has such rules, methods that MCP does not define are refused too.`,
  words: { min: 1, max: 3 },
  options: { ...SIZE_LIMIT, ...IN_PLACE },
  examples: [
    ["nexus mcp request github tools/list", "the first page of the tools, as the server sends it"],
    [`nexus mcp request github resources/read '{"uri":"file:///a.txt"}'`, "a request with params"],
    ["nexus mcp request github tools/call @call.json --json", "params from a file; the result on one line"],
    ["nexus mcp request --url http://127.0.0.1:3000/mcp acme/status", "a method that only this server knows"],
  ],

  async run(context) {
    const { words, options, out, signal } = context;
    const maxMessageBytes = sizeLimit(options["max-size"]);
    await using servers = await context.openServers(asksAnyone);
    const { definition, rest } = servers.pickFirst(words);
    const [method, json, more] = rest;
    if (method === undefined)
      throw wrongUsage("No method is named", `Write: nexus mcp request ${definition.id} tools/list`);
    if (more !== undefined)
      throw wrongUsage(`"nexus mcp request" takes no "${more}"`, "Quote the JSON: it is one word.");
    const params = json === undefined ? undefined : paramsIn(await jsonGiven(json, "JSON"));
    const { id: server } = definition;
    await requireAllowed(servers, requestTarget(server, method, params));
    const client = await servers.connect(definition, { signal, maxMessageBytes, input: undefined });
    const answer = await client.request(method, params, { signal }).catch((error: unknown) => {
      throw error instanceof NexusError ? advised(error, method).with({ server }) : error;
    });
    const result = method === "tools/list" ? withAllowedTools(servers, server, answer) : answer;
    if (out.json) out.value(result);
    else out.line(visibleLines(JSON.stringify(result, undefined, 2)));
    // A tool that failed: the same code as for an error of the protocol.
    return result["isError"] === true ? exitCodeOf(new NexusError("SERVER_ERROR", "")) : 0;
  },
});

function paramsIn(value: unknown): Params {
  if (isRecord(value)) return value;
  throw wrongUsage("The params are no object", `Write '{"key":"value"}'; params of MCP have names.`);
}

function advised(error: NexusError, method: string): NexusError {
  if (error.details.rpc?.code !== METHOD_NOT_FOUND) return withCapabilityAdvice(error);
  const near = METHODS.includes(method) ? undefined : nearestName(method, METHODS);
  const hint =
    near === undefined
      ? "The server does not know this method; nexus mcp connect shows what it can."
      : `Did you mean "${near}"?`;
  return error.with({ hint });
}
