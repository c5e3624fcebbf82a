import { addAbortSignal } from "node:stream";
import { SHORT_SECRET } from "../../masking/hidden-values.ts";
import { ownedName } from "../../auth/secret-name.ts";
import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { parseWebOrigin } from "../../net/web-origin.ts";
import { SECRETS } from "../../operations/secrets.ts";
import { isMissingFile } from "../../store/engine/database-address.ts";
import { maskUrl } from "../../masking/mask-words.ts";
import { filledPlaces } from "../../workshop/file/model/filled-template.ts";
import { addressOfSecret, neededSecrets } from "../../workshop/file/model/secret-names.ts";
import { failuresForPrograms } from "../command/ask-servers.ts";
import { isElsewhere, wrongUsage } from "../command/command-line.ts";
import { defineCommand, GATEWAY_OPTIONS, SERVED, TENANT, type CommandContext } from "../command/command.ts";
import type { ServerSet } from "../command/server-set.ts";
import type { PublishedFile } from "../command/server-source.ts";
import type { Output } from "../output/output.ts";
import { showWhole } from "../output/table.ts";
import { chosenStoreOrDefault } from "../store/chosen-database.ts";
import { openOwnSecrets, openTenant, type TenantContext, type TenantOperations } from "../store/open-operations.ts";
import { tenantCommand } from "../store/operated-command.ts";

/**
 * The secrets of a tenant, here or behind a gateway. Those of the tenant default are the person's own where no database was
 * chosen; somebody without a gateway has no database at all.
 */
async function openSecrets(context: TenantContext): Promise<TenantOperations> {
  if (!isElsewhere(context) && (context.options.tenant ?? DEFAULT_TENANT) === DEFAULT_TENANT) {
    const { address, isDefault } = await chosenStoreOrDefault(context);
    if (isDefault && isMissingFile(address)) return openOwnSecrets(context);
  }
  return openTenant(context);
}

/** nexus secrets set github */
export const secretsSet = defineCommand({
  usage: "nexus secrets set <name>",
  description: `
Asks for the value without showing it, or reads it from stdin if stdin is not a terminal; a final line break is removed.
The value is never an argument, because arguments are stored in the shell's history and visible to other users.

Secrets are stored encrypted: those of tenants in the gateway's database, and if a database was chosen, also those of the tenant
default; otherwise in your own files. Entries use them as \${secret:name} in "env", "headers", "oauth",
and in the path and the query of "url". The tools of an API use secrets that start with the name of their server: capcorn.user.

A secret is sent only to its allowed origins: for a server of a tool file, the address in that file; for others, the first
address it is sent to. "nexus secrets allow" adds an origin. A new value keeps the recorded origins.

With --gateway the value is sent to that gateway. It never comes back, so origins are added only on the machine of the gateway.`,
  words: { min: 1, max: Infinity },
  options: { ...TENANT, gateway: GATEWAY_OPTIONS.gateway },
  examples: [
    ["nexus secrets set github", "ask for the value"],
    ["nexus secrets set capcorn.user", "for the tools of the server capcorn and their address"],
    ["pass show github | nexus secrets set github", "read the value from another program"],
    ["nexus secrets set github < token.txt", "read the value from a file"],
    ["nexus secrets set github --tenant shop", "for the servers of a tenant of the gateway"],
    [
      "nexus secrets set github --gateway https://gateway.example < token.txt",
      "at this gateway, with the key of an admin in NEXUS_KEY",
    ],
  ],

  async run(context) {
    const { words, out, options, signal } = context;
    const [word = "", ...rest] = words;
    const [name = ""] = word.split("=", 1);
    if (rest.length > 0 || name !== word) throw valueGiven(name);
    const { checkSecretName } = await import("../../auth/secret-name.ts");
    checkSecretName(name);
    await using opened = await openSecrets(context);
    const { client, tenant, again } = opened;
    const value = process.stdin.isTTY ? await ask(out, name, signal) : await readAll(signal);
    if (value === "")
      throw wrongUsage(`The value of the secret "${name}" is empty`, "Nothing was stored. Enter a value.");
    // The servers here are not those of a gateway elsewhere.
    const destination = options.gateway === undefined ? await destinationOf(name, context) : undefined;
    const given = destination && [destination.origin];
    const { origins } = await client.call(SECRETS.setSecret, { tenant, name, value, origins: given });
    if (value.trim().length < SHORT_SECRET) out.note(shortWarning(out, name));
    if (out.json) return out.value({ name, origins });
    const isOfTools = destination?.used.some((known) => filledPlaces(known, name) !== undefined) === true;
    const use = isOfTools ? `The tools of "${destination?.server}" use it.` : `Entries use it as \${secret:${name}}.`;
    out.line(`Stored the secret ${out.style("bold", name)}. ${use}`);
    if (destination && !isOfTools) out.note(`${strangeWarning(out, name, destination)}${again}`);
    const limit = origins.length === 0 ? "the first address it is used with" : origins.join(", ");
    out.line(`It may be sent to ${limit}.`);
    if (destination && !origins.includes(destination.origin)) {
      const { server, origin } = destination;
      out.note(`Server "${server}" uses ${origin}. To allow it: nexus secrets allow ${name} ${origin}${again}`);
    }
  },
});

/** nexus secrets list */
export const secretsList = tenantCommand({
  usage: "nexus secrets list",
  description: "Lists the names of secrets and the origins they may be sent to. Values are never shown.",
  options: SERVED,
  examples: [
    ["nexus secrets list", "one name per line, with its origins"],
    ["nexus secrets list --tenant shop", "those of a tenant of the gateway"],
    ["nexus secrets list --gateway https://gateway.example", "at this gateway, with the key of an admin in NEXUS_KEY"],
    ["nexus secrets list --json", `{"items":[{"name":"github","origins":["https://api.example"]}],"errors":[]}`],
  ],

  opens: openSecrets,
  async does({ client, tenant, again }, { out }) {
    const pages = await client.pages(SECRETS.listSecrets, { tenant });
    const items = pages.flatMap((page) => page.items.map(({ name, origins }) => ({ name, origins })));
    const unreadable = pages[0]?.unreadable ?? 0;
    const lost = unreadable === 0 ? [] : [damaged(unreadable)];
    for (const error of lost) out.note(`${out.onStderr("yellow", "warning:")} ${error.message}. ${error.hint}`);
    if (items.length + unreadable === 0) out.note(`No secrets are stored. Store one: nexus secrets set NAME${again}`);
    return { items, errors: failuresForPrograms(lost) };
  },
  tell({ items }, { out }) {
    const rows = items.map(({ name, origins }) => [
      name,
      origins.length > 0 ? origins.join(", ") : { text: "not sent yet", style: "dim" as const },
    ]);
    showWhole(out, rows);
  },
});

/** nexus secrets allow capcorn.user https://api.example */
export const secretsAllow = tenantCommand({
  usage: "nexus secrets allow <name> <origin>",
  description: `
A secret is sent only to its allowed origins: those of the server it was stored for, or the first address it was used for.
This command adds an origin. "nexus secrets list" shows all origins. To remove an origin, remove the secret and set it again.

Origins do not apply to programs that receive secrets in "env" or "args".`,
  options: TENANT,
  examples: [
    ["nexus secrets allow capcorn.user https://test.example", "the API has moved, or has a second address"],
    ["nexus secrets allow capcorn.user http://127.0.0.1:9999", "a server on this machine replaces the API"],
  ],

  opens: openSecrets,
  async does({ client, tenant }, { words: [name = "", given = ""] }) {
    const origin = parseWebOrigin(given);
    if (origin === undefined) {
      throw wrongUsage(
        `${JSON.stringify(maskUrl(given))} is not an origin`,
        "Use scheme, host and optional port: https://api.example or http://127.0.0.1:8080.",
      );
    }
    const { origins } = await client.call(SECRETS.allowSecret, { tenant, name, origin });
    return { name, origins };
  },
  tell: ({ name, origins }, { out }) =>
    out.line(`The secret ${out.style("bold", name)} may be sent to ${origins.join(", ")}.`),
});

/** nexus secrets remove github */
export const secretsRemove = tenantCommand({
  usage: "nexus secrets remove <name>",
  description: "Entries that use it as ${secret:name} can no longer start.",
  options: SERVED,
  examples: [
    ["nexus secrets remove github", "servers that need it fail at their next start"],
    ["nexus secrets remove github --json", "print the removed name as JSON"],
  ],

  opens: openSecrets,
  async does({ client, tenant }, { words: [name = ""] }) {
    await client.call(SECRETS.removeSecret, { tenant, name });
    return { name };
  },
  tell: ({ name }, { out }) => out.line(`Removed the secret ${out.style("bold", name)}.`),
});

function damaged(count: number): NexusError {
  const what = count === 1 ? "One stored secret" : `${count} stored secrets`;
  return new NexusError("PERMISSION_DENIED", `${what} cannot be decrypted, and their names are unknown`, {
    phase: "config",
    hint: "Set the missing secrets again.",
    mayHaveReached: false,
  });
}

function shortWarning(out: Output, name: string): string {
  const where = "Nexus can mask it in output only as a separate word, and not in values from callers or tool files";
  return `${out.onStderr("yellow", "warning:")} ${name} has fewer than ${SHORT_SECRET} characters. ${where}: use a longer value if possible.`;
}

/** The name has an API server's prefix, but its tools do not use the secret: probably a typing error. */
function strangeWarning(out: Output, name: string, { server, used }: SecretDestination): string {
  const known = used.length === 0 ? "they use no secrets" : `they use ${used.join(", ")}`;
  return `${out.onStderr("yellow", "warning:")} The tools of "${server}" do not use ${name}; ${known}. To remove it: nexus secrets remove ${name}`;
}

/** The argument may be the secret itself, so it is not repeated. */
function valueGiven(name: string): NexusError {
  const isName = /^[\w.-]{1,128}$/.test(name);
  return wrongUsage(
    "The value of a secret must not be an argument: arguments are stored in the shell's history and visible to other users",
    `Run nexus secrets set ${isName ? name : "NAME"} and enter the value when asked, or pipe it in. If you typed a real secret, change it.`,
  );
}

async function ask(out: Output, name: string, signal: AbortSignal): Promise<string> {
  if (!out.isInteractive) {
    throw new NexusError("INPUT_FAILED", `The value of "${name}" is missing, and there is no terminal to ask for it`, {
      hint: `Pipe it in: nexus secrets set ${name} --json < FILE`,
      mayHaveReached: false,
    });
  }
  const { askFor } = await import("../output/terminal-questions.ts");
  return askFor(out, { text: `Value of ${name} (not shown)`, hidden: true, signal });
}

async function readAll(signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of addAbortSignal(signal, process.stdin)) chunks.push(Buffer.from(chunk as Uint8Array));
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)).replace(/\r?\n$/, "");
  } catch (cause) {
    throw new NexusError("ARGUMENTS_INVALID", "The input on stdin is not UTF-8 text", {
      hint: "Encode the value, for example as Base64, in a format that the server accepts.",
      cause,
      mayHaveReached: false,
    });
  }
}

/** The configured or published server of a secret, and the origin of its requests. */
interface SecretDestination {
  server: string;
  origin: string;
  /** The secrets that its tools use; a name with `{…}` stands for many. */
  used: string[];
}

/**
 * The destination of a secret named `<server>.<name>`: the address in that server's approved tool file, in its entry, or
 * that of a published instance. Undefined if there is no such server or it cannot be used.
 */
async function destinationOf(
  name: string,
  { openServers }: Pick<CommandContext, "openServers">,
): Promise<SecretDestination | undefined> {
  const { of, name: own } = ownedName(name);
  const { server } = of;
  if (server === "") return undefined;
  try {
    await using servers = await openServers();
    const found = await reachedFile(servers, servers.get(server));
    if (!found) return undefined;
    const { file, upstream } = found;
    // A fake gets placeholders, never stored secrets.
    const address = upstream === undefined || upstream === "fake" ? addressOfSecret(file, own) : upstream;
    return { server, origin: new URL(address).origin, used: neededSecrets(file, server) };
  } catch {
    // A problem in the configuration does not prevent storing a secret.
    return undefined;
  }
}

/** The tool file of a server; `upstream`: the address that replaces all of it. */
async function reachedFile(
  servers: ServerSet,
  { entry, trusted }: ServerDefinition,
): Promise<PublishedFile | undefined> {
  if (!trusted || entry?.reach.kind !== "api") return undefined;
  const { published, upstream, file: path } = entry.reach;
  if (published) return servers.findPublishedFile(published);
  const { loadApproved } = await import("../../workshop/load-api.ts");
  const { file } = await loadApproved(path, { trust: servers.trust });
  return { file, upstream };
}
