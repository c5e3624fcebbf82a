import type { Client } from "../../client/client.ts";
import { nearestName } from "../../text/nearest-name.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { visibleLines } from "../../text/visible.ts";
import { INVALID_PARAMS } from "../../protocol/json-rpc.ts";
import type { ReadResourceResult, ResourceContents } from "../../protocol/mcp.ts";
import { RESOURCE_NOT_FOUND } from "../../protocol/meta.ts";
import { ATTENDING, AttendedCall } from "./attended-call.ts";
import { asksAnyone, defineCommand, IN_PLACE, TENANT } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { ContentPrinter, isBase64, SavedFiles } from "./content.ts";
import type { Output } from "../output/output.ts";
import { requireAllowed } from "../command/entry-rules.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { requireAccepted } from "../command/pinned-lists.ts";
import type { ServerSet } from "../command/server-set.ts";

/** nexus mcp read docs file:///readme.md */
export const read = defineCommand({
  usage: "nexus mcp read <server> <uri>",
  description: `
On a terminal, text is printed, and other content is saved to a file whose name is printed. In a pipe, the resource is
written byte for byte. "nexus mcp resources" and "nexus mcp templates" list the resources.`,
  words: { min: 1, max: 2 },
  options: {
    save: { type: "string", value: "FOLDER", help: "folder for content that is not text, with or without a terminal" },
    ...ATTENDING,
    ...IN_PLACE,
    ...TENANT,
  },
  examples: [
    ["nexus mcp read demo demo://welcome", "print the text"],
    ["nexus mcp read demo demo://pixel > pixel.png", "write the bytes of an image"],
    ["nexus mcp read demo demo://colours/teal --json", "the result as the server sent it"],
    ["nexus mcp read file:///notes.txt --url http://127.0.0.1:3000/mcp", "from a server that is not configured"],
  ],

  async run(context) {
    const { words, options, out, signal, openServers } = context;
    await using servers = await openServers(asksAnyone);
    const { definition, rest } = servers.pickFirst(words);
    const [uri, more] = rest;
    if (more !== undefined) servers.pick(uri);
    if (uri === undefined) {
      throw wrongUsage(
        "The URI of the resource is missing",
        `Add the URI: nexus mcp read${servers.wordsFor(definition.id)} URI.`,
      );
    }
    const { id: server } = definition;
    await requireAllowed(servers, { kind: "resource", server, name: uri });
    const attended = await AttendedCall.open({ command: "mcp read", context, servers, definition });
    const { client } = attended;
    if (definition.pin === true) await requireListed(servers, definition, { client, uri, signal });
    const call = { method: "resources/read", params: { uri } };
    attended.requireSame(call.method, call.params);
    const result = await attended
      .run(call, (sending) => client.readResource(uri, sending))
      .catch(async (error: unknown) => {
        throw await better(error, uri, { client, servers, signal });
      });
    await show(result, { out, uri, folder: options.save });
    await attended.finish();
  },
});

/** A resource that is not listed may belong to a template. */
async function requireListed(
  servers: ServerSet,
  definition: ServerDefinition,
  { client, uri, signal }: { client: Client; uri: string; signal: AbortSignal },
): Promise<void> {
  const items = await client.listResources({ signal });
  if (!items.some((resource) => resource.uri === uri)) return;
  await requireAccepted(servers, definition, { kind: "resources", client, items, name: uri });
}

async function show(
  result: ReadResourceResult,
  { out, uri, folder }: { out: Output; uri: string; folder: string | undefined },
): Promise<void> {
  if (out.json) return out.value(result);
  const contents = Array.isArray(result.contents) ? result.contents : [];
  const [only, ...others] = contents;
  if (!only) return out.note("The resource is empty.");
  const isPiped = out.columns === undefined && folder === undefined;
  const printer = new ContentPrinter(out, new SavedFiles(folder, lastPart(uri)));
  if (others.length > 0) {
    for (const each of contents) await printer.resource(each);
  } else if (isPiped && bytesOf(only)) {
    if (typeof only.text !== "string" && !isBase64(only.blob ?? ""))
      out.note("warning: the data of the resource is not valid base64; the readable part was written");
    out.bytes(bytesOf(only) ?? new Uint8Array());
  } else if (typeof only.text === "string") {
    out.line(visibleLines(only.text.replace(/\r?\n$/, "")));
  } else await printer.resource(only);
}

function bytesOf({ text, blob }: ResourceContents): Uint8Array | undefined {
  if (typeof text === "string") return Buffer.from(text, "utf8");
  return typeof blob === "string" ? Buffer.from(blob, "base64") : undefined;
}

/** The name of a saved resource: the end of its URI without its extension. */
function lastPart(uri: string): string {
  const path = uri.replace(/[?#].*$/s, "").replace(/^[a-z][a-z0-9+.-]*:/i, "");
  const last = path.split("/").findLast((part) => part !== "") ?? "";
  return last.replace(/\.[A-Za-z0-9]{1,8}$/, "");
}

/** A missing resource is an unknown name; servers report it with one of two codes. */
async function better(
  thrown: unknown,
  uri: string,
  { client, servers, signal }: { client: Client; servers: ServerSet; signal: AbortSignal },
): Promise<unknown> {
  const rpc = thrown instanceof NexusError && thrown.code === "SERVER_ERROR" ? thrown.details.rpc : undefined;
  if (rpc?.code !== RESOURCE_NOT_FOUND && rpc?.code !== INVALID_PARAMS) return thrown;
  const resources = await client.listResources({ signal }).catch(() => []);
  const near = nearestName(
    uri,
    resources.map((resource) => resource.uri),
  );
  const where = servers.wordsFor(client.server);
  const lists = `"nexus mcp resources${where}" and "nexus mcp templates${where}" list the available resources.`;
  return new NexusError("NAME_UNKNOWN", `Server "${client.server}" has no resource "${uri}": ${rpc.message}`, {
    ...(thrown as NexusError).details,
    cause: thrown,
    hint: near === undefined ? lists : `Did you mean "${near}"? ${lists}`,
  });
}
