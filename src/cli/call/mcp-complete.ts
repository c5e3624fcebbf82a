import type { Client } from "../../client/client.ts";
import { nearestName } from "../../text/nearest-name.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { visible } from "../../text/visible.ts";
import { INVALID_PARAMS } from "../../protocol/json-rpc.ts";
import { requestTarget } from "../../host/directory/access-target.ts";
import { unknownName } from "../../host/directory/unknown-name.ts";
import type { CompletionReference } from "../../protocol/mcp.ts";
import { asksAnyone, defineCommand, IN_PLACE, TENANT } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { requireAllowed } from "../command/entry-rules.ts";
import { keyValue } from "../arguments/key-value.ts";

/** nexus mcp complete demo --prompt postcard --arg place=L */
export const complete = defineCommand({
  usage: "nexus mcp complete <server> --prompt NAME|--template URI --arg name=partial [--context key=value]…",
  description: "Prints the server's suggestions for the start of a value, one per line.",
  words: { min: 0, max: 1 },
  options: {
    prompt: { type: "string", value: "NAME", help: "prompt whose argument is completed" },
    template: { type: "string", value: "URI", help: "resource template whose variable is completed" },
    arg: { type: "string", value: "name=partial", help: "the argument and the start of its value" },
    context: {
      type: "string",
      multiple: true,
      value: "key=value",
      help: "an argument that is already known; repeatable",
    },
    ...IN_PLACE,
    ...TENANT,
  },
  examples: [
    ["nexus mcp complete demo --prompt postcard --arg place=L", "suggest places that start with L"],
    [`nexus mcp complete demo --template "demo://colours/{name}" --arg name=`, "suggest all values of the variable"],
    [
      "nexus mcp complete demo --prompt postcard --arg tone= --context place=Vienna",
      "use the value of another argument",
    ],
  ],

  async run({ words, options, out, signal, openServers }) {
    const ref = reference(options);
    if (options.arg === undefined) throw wrongUsage("--arg is missing", "Add --arg name=partial.");
    const { key: name, value } = keyValue(options.arg, "--arg");
    const settled = (options.context ?? []).map((text) => keyValue(text, "--context"));
    const context = { arguments: Object.fromEntries(settled.map((pair) => [pair.key, pair.value])) };
    await using servers = await openServers(asksAnyone);
    const definition = servers.pickOnly(words);
    await requireAllowed(servers, requestTarget(definition.id, "completion/complete", { ref }));
    const client = await servers.connect(definition, { signal });
    const { completion } = await client
      .complete(ref, { name, value }, settled.length === 0 ? { signal } : { signal, context })
      .catch(async (error: unknown) => {
        throw await better(error, ref, { client, signal });
      });
    if (!Array.isArray(completion?.values)) {
      throw new NexusError("PROTOCOL_VIOLATION", "The server's answer has no list of suggestions", {
        server: definition.id,
        raw: completion,
      });
    }
    if (out.json) return out.value({ server: definition.id, ...completion });
    for (const suggestion of completion.values) out.line(visible(suggestion));
    const { total } = completion;
    const shown = completion.values.length;
    if (shown === 0) out.note("The server has no suggestions.");
    else if (completion.hasMore || (total ?? 0) > shown) {
      out.note(`${shown}${total === undefined ? "" : ` of ${total}`} shown; there are more.`);
    }
  },
});

function reference({
  prompt,
  template,
}: {
  prompt?: string | undefined;
  template?: string | undefined;
}): CompletionReference {
  if (prompt !== undefined && template === undefined) return { type: "ref/prompt", name: prompt };
  if (template !== undefined && prompt === undefined) return { type: "ref/resource", uri: template };
  const what =
    prompt === undefined ? "--prompt or --template is missing" : "--prompt and --template cannot be used together";
  throw wrongUsage(what, "Use --prompt NAME or --template URI.");
}

/** Servers report an unknown reference as invalid parameters; it may be misspelt. */
async function better(
  thrown: unknown,
  ref: CompletionReference,
  { client, signal }: { client: Client; signal: AbortSignal },
): Promise<unknown> {
  if (!(thrown instanceof NexusError) || thrown.details.rpc?.code !== INVALID_PARAMS) return thrown;
  const isPrompt = ref.type === "ref/prompt";
  const names = await (
    isPrompt
      ? client.listPrompts({ signal }).then((prompts) => prompts.map(({ name }) => name))
      : client.listResourceTemplates({ signal }).then((templates) => templates.map(({ uriTemplate }) => uriTemplate))
  ).catch(() => undefined);
  const given = isPrompt ? ref.name : ref.uri;
  if (!names || names.includes(given)) return thrown;
  const near = nearestName(given, names);
  const lists = `"nexus mcp ${isPrompt ? "prompts" : "templates"}" lists them.`;
  return unknownName(isPrompt ? "prompt" : "template", given, {
    ...thrown.details,
    hint: near === undefined ? lists : `Did you mean "${near}"? ${lists}`,
  });
}
