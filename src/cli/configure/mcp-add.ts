import { statSync } from "node:fs";
import { resolve } from "node:path";
import type { Candidate } from "../../config/read/places.ts";
import { looksRelative } from "../../config/import/relative-words.ts";
import { serverId } from "../../text/server-id.ts";
import { visible } from "../../text/visible.ts";
import type { ServerEntry } from "../../transport/server-entry.ts";
import { defineCommand, SERVED, type CommandContext, type Options } from "../command/command.ts";
import { isElsewhere, wrongUsage } from "../command/command-line.ts";
import type { ElsewhereContext } from "../gateway/servers.ts";
import { openConfigured, placesOf } from "./configured-servers.ts";
import { reachAsWritten } from "./entry-words.ts";
import { outcomeForPrograms, tellOutcome } from "./added-server.ts";
import { adviceAbout, literalSecrets } from "./literal-secrets.ts";
import type { AddOptions } from "./add-to-tenant.ts";
import { findApi, newEntry } from "./new-entry.ts";
import type { Output } from "../output/output.ts";
import { shortPath } from "../output/short-path.ts";
import { isOtherTenant } from "../store/tenant-state.ts";
import { TARGET, targetFile } from "./target-file.ts";

/** The options that describe an entry; a command may also follow `--`. */
const ENTRY = {
  url: { type: "string", value: "URL", help: "URL of a server" },
  stdio: { type: "string", value: '"COMMAND …"', help: "command of a server as one argument, instead of after --" },
  api: { type: "string", value: "API", help: "an approved tool file: a path or a name, as in nexus api" },
  upstream: { type: "string", value: "fake|URL", help: "address to use instead of the real service of a tool file" },
  setting: { type: "string", multiple: true, value: "name=value", help: "a setting of a tool file; repeatable" },
  env: {
    type: "string",
    multiple: true,
    value: "NAME=value",
    help: "an environment variable for the command; repeatable",
  },
  header: { type: "string", multiple: true, value: '"Name: value"', help: "a header to send to the URL; repeatable" },
  cwd: { type: "string", value: "DIR", help: "working folder of the command" },
  root: {
    type: "string",
    multiple: true,
    value: "DIR",
    help: "a folder that the server may ask for; repeatable. In a chat, default: the working folder",
  },
  pin: {
    type: "boolean",
    help: "use its tools, prompts and resources only as they were accepted: those that it lists first, and what you accept later",
  },
  disabled: { type: "boolean", help: "add it disabled" },
} as const satisfies Options;

/** nexus mcp add notes -- npx -y @example/notes */
export const add = defineCommand({
  usage: 'nexus mcp add <name> (-- COMMAND ARG… | --url URL | --api API | --stdio "COMMAND …") [options]',
  description: `
Adds the server to your own configuration file (default: ~/.nexus/mcp.json), or with --project to the project's file. Comments
and order are preserved. Everything after -- is the command. In PowerShell, quote it: '--'.
A command in your own file runs in your home folder, or in this folder if it names files of this folder. --cwd sets another.

Then Nexus connects once and reports whether the server works. A server that does not work yet is added as well. Variables
are stored unresolved and replaced at each start: \${NAME}, \${NAME:-default}, \${secret:name}.

With --tenant, the server belongs to a tenant of the gateway: its entry is kept, encrypted, in the gateway's database. With
--gateway, a gateway elsewhere keeps it; servers at a public URL only.`,
  words: { min: 1, max: Infinity },
  options: {
    ...ENTRY,
    ...TARGET,
    ...SERVED,
    force: { type: "boolean", help: "replace a server with this name" },
    "no-check": { type: "boolean", help: "do not connect to the server" },
  },
  examples: [
    [
      "nexus mcp add files -- npx -y @modelcontextprotocol/server-filesystem .",
      "a server that Nexus starts as a program",
    ],
    ["nexus mcp add docs --url https://example.com/mcp", "a server at a URL"],
    [
      `nexus mcp add github --url https://api.example.com/mcp --header 'Authorization: Bearer \${secret:github}'`,
      `use a secret that was stored with "nexus secrets set github"`,
    ],
    ["nexus mcp add hotel --api capcorn --upstream fake", "the tools of an API, connected to its fake"],
    ["nexus mcp add notes --project --env MODE=dev -- node server.js", "for everyone who works on this project"],
    [
      "nexus mcp add docs --url https://example.com/mcp --tenant shop --gateway https://gateway.example",
      "at a gateway elsewhere, with the key of an admin in NEXUS_KEY",
    ],
    ["nexus mcp add docs --tenant shop --url https://example.com/mcp", "for the callers of one tenant of the gateway"],
  ],

  async run(context) {
    const { words, options, flags, out, surroundings, stateFolder } = context;
    const [name = "", ...command] = words;
    if (name.trim() === "")
      throw wrongUsage("The name of the server is missing", "Add a name: nexus mcp add notes -- COMMAND …");
    const places = placesOf(context);
    if (isElsewhere(context)) return addElsewhere(context, { name, command, cwd: places.cwd });
    if (isOtherTenant(options.tenant)) {
      const { addToTenant } = await import("./add-to-tenant.ts");
      return addToTenant(context, { name, command, cwd: places.cwd });
    }
    const target = await targetFile({ ...options, config: flags.config }, places);
    const api = await findApi(options.api, places.cwd);
    const entry = newEntry(name, command, { ...options, api, target, from: places.cwd });

    const { editTrusted } = await import("../../config/edit/edit-trusted.ts");
    const { trustStore } = await import("../../host/servers/load-options.ts");
    const trust = trustStore(surroundings, stateFolder);
    await editTrusted(target.file, [{ kind: "add", name, entry, replace: options.force }], {
      trust,
      surroundings: places,
    });

    const added: Added = { id: serverId(name), name, target, entry };
    if (!out.json) tell(out, added, surroundings.home);
    await settle(context, added, { check: options["no-check"] !== true });
  },
});

interface NamedCommand {
  name: string;
  command: readonly string[];
  cwd: string;
}

/** Adds a server at a URL to a gateway elsewhere. */
async function addElsewhere(
  context: ElsewhereContext & CommandContext<AddOptions>,
  { name, command, cwd }: NamedCommand,
): Promise<void> {
  const { options, surroundings } = context;
  if (options.project || options.file !== undefined) {
    throw wrongUsage("--gateway adds the server to a gateway, not to a file", "Remove --project and --file.");
  }
  const target = { file: "", layer: "user", folder: surroundings.home } as const;
  const entry = newEntry(name, command, { ...options, target, from: cwd });
  const { addRemoteServer } = await import("../gateway/servers.ts");
  const { force = false, "no-check": noCheck = false } = options;
  await addRemoteServer(context, { name, entry, replace: force, check: !noCheck });
}

interface Added {
  id: string;
  name: string;
  target: Candidate;
  entry: ServerEntry;
}

function tell(out: Output, { id, name, target, entry }: Added, home: string): void {
  const called = id === name ? "" : `; its name in commands is ${id}`;
  out.line(`Added ${out.style("bold", visible(name))} to ${shortPath(target.file, home)}${called}`);
  out.line(out.style("dim", `  ${reachAsWritten(entry)}`));
  if (entry.cwd !== undefined) out.line(out.style("dim", `  in ${visible(shortPath(entry.cwd, home))}`));
  for (const secret of literalSecrets(entry)) out.warn(adviceAbout(secret));
  const [relative] = target.layer === "user" ? looksRelative(entry) : [];
  if (relative !== undefined) {
    out.warn(
      `${visible(relative)} is searched in your home folder, where servers of your own file run; --cwd DIR sets another folder`,
    );
  }
  const isFolder = (path: string) =>
    statSync(resolve(target.folder, path), { throwIfNoEntry: false })?.isDirectory() === true;
  for (const root of entry.roots ?? []) {
    const path = typeof root === "string" ? root : "";
    if (path === "" || /^(?:~|file:)|\$\{/.test(path) || isFolder(path)) continue;
    out.warn(`The root ${visible(path)} is not a folder. Create it, or add the server again with --root DIR --force`);
  }
  if (target.layer === "explicit") out.note(`Nexus does not read this file by default. Use --config ${target.file}`);
}

/** Reports whether the new server is hidden by others, and whether it works. */
async function settle(
  context: CommandContext<object>,
  { id, target, entry }: Added,
  { check }: { check: boolean },
): Promise<void> {
  const { out, signal, surroundings } = context;
  const file = target.layer === "explicit" ? target.file : undefined;
  await using servers = await openConfigured(context, { file, asksFor: (server) => server === id });
  const definition = servers.get(id);
  const hiddenBy = definition.origin?.file === target.file ? undefined : definition.origin?.file;
  if (hiddenBy !== undefined)
    out.warn(
      `It is hidden by the server with the same name in ${shortPath(hiddenBy, surroundings.home)}, which takes precedence`,
    );
  else if (definition.hides.length > 0)
    out.note(
      `It hides the server with the same name in ${definition.hides.map((other) => shortPath(other, surroundings.home)).join(", ")}`,
    );

  const isTried = check && hiddenBy === undefined && definition.enabled && definition.trusted;
  if (check && hiddenBy === undefined && !definition.trusted) {
    out.warn(`The file has servers that are not trusted yet, so none of them is started. Review them: nexus mcp trust`);
  }
  const { connectOnce } = await import("./first-connection.ts");
  const outcome = isTried ? await connectOnce(servers, definition, signal) : undefined;
  if (!out.json) {
    return tellOutcome(out, servers, { definition, outcome });
  }
  out.value({
    server: id,
    file: target.file,
    layer: target.layer,
    enabled: definition.enabled,
    trusted: definition.trusted,
    hides: hiddenBy === undefined ? definition.hides : [],
    hiddenBy,
    literalSecrets: literalSecrets(entry).map(({ where }) => where),
    check: outcomeForPrograms(outcome),
  });
}
