import type { Candidate } from "../../config/read/places.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { looksRelative } from "../../config/import/relative-words.ts";
import { serverId } from "../../config/read/server-id.ts";
import { renderForPeople, renderForPrograms } from "../../errors/render.ts";
import { visible } from "../../text/visible.ts";
import type { ServerEntry } from "../../transport/server-entry.ts";
import { defineCommand, type CommandContext } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { openConfigured, placesOf } from "./configured-servers.ts";
import { reachAsWritten } from "./entry-words.ts";
import type { FirstConnection } from "./first-connection.ts";
import { adviceAbout, literalSecrets } from "./literal-secrets.ts";
import { ENTRY, newEntry } from "./new-entry.ts";
import type { Output } from "../output/output.ts";
import { shortPath } from "../output/short-path.ts";
import { TARGET, targetFile } from "./target-file.ts";

/** nexus mcp add notes -- npx -y @example/notes */
export const add = defineCommand({
  usage: 'nexus mcp add <name> (-- COMMAND ARG… | --url URL | --api API | --stdio "COMMAND …") [options]',
  description: `
Writes the server into your own file (~/.nexus/mcp.json unless you have another), or into the project's with --project;
comments and order of the file stay. Everything after -- is the command. PowerShell drops a bare --: quote it, '--'.
A command of your own file runs in your home folder; if it names files of this folder, it runs here. --cwd says otherwise.

Then it connects once and says whether that works. A server that does not work yet is added all the same. Variables are
written as they are given and filled in at each start: \${NAME}, \${NAME:-default}, \${secret:name}.`,
  words: { min: 1, max: Infinity },
  options: {
    ...ENTRY,
    ...TARGET,
    force: { type: "boolean", help: "replace a server of that name" },
    "no-check": { type: "boolean", help: "do not connect to it" },
  },
  examples: [
    ["nexus mcp add files -- npx -y @modelcontextprotocol/server-filesystem .", "a server that is a program"],
    ["nexus mcp add docs --url https://example.com/mcp", "a server that runs elsewhere"],
    [
      `nexus mcp add github --url https://api.example.com/mcp --header 'Authorization: Bearer \${secret:github}'`,
      `with a secret that "nexus secrets set github" stored`,
    ],
    ["nexus mcp add hotel --api capcorn --upstream fake", "the tools of an API, with a fake of it behind them"],
    ["nexus mcp add notes --project --env MODE=dev -- node server.js", "for everybody who works on this project"],
  ],

  async run(context) {
    const { words, options, flags, out, surroundings, stateFolder } = context;
    const [name = "", ...command] = words;
    if (name.trim() === "") throw wrongUsage("The server has no name", "Give it one: nexus mcp add notes -- COMMAND …");
    const places = placesOf(context);
    const target = await targetFile({ ...options, config: flags.config }, places);
    const api = options.api === undefined ? undefined : await toolFile(options.api, places.cwd);
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

async function toolFile(given: string, cwd: string): Promise<string> {
  const { findToolFile } = await import("../api/find-tool-file.ts");
  return findToolFile(given, { cwd });
}

interface Added {
  id: string;
  name: string;
  target: Candidate;
  entry: ServerEntry;
}

function tell(out: Output, { id, name, target, entry }: Added, home: string): void {
  const called = id === name ? "" : `, called ${id} in commands`;
  out.line(`Added ${out.style("bold", visible(name))} to ${shortPath(target.file, home)}${called}`);
  out.line(out.style("dim", `  ${reachAsWritten(entry)}`));
  if (entry.cwd !== undefined) out.line(out.style("dim", `  in ${visible(shortPath(entry.cwd, home))}`));
  for (const secret of literalSecrets(entry)) warn(out, adviceAbout(secret));
  const [relative] = target.layer === "user" ? looksRelative(entry) : [];
  if (relative !== undefined) {
    warn(
      out,
      `${visible(relative)} is looked for in your home folder, where servers of your own file run; --cwd DIR names another`,
    );
  }
  if (target.layer === "explicit") out.note(`Nexus reads that file when it is told to: --config ${target.file}`);
}

/** How the new server stands among the others, and whether it works. */
async function settle(
  context: Omit<CommandContext, "options">,
  { id, target, entry }: Added,
  { check }: { check: boolean },
): Promise<void> {
  const { out, signal, surroundings } = context;
  const file = target.layer === "explicit" ? target.file : undefined;
  await using servers = await openConfigured(context, { file, asksFor: (server) => server === id });
  const definition = servers.get(id);
  const hiddenBy = definition.origin?.file === target.file ? undefined : definition.origin?.file;
  if (hiddenBy !== undefined)
    warn(
      out,
      `It is hidden by the server of the same name in ${shortPath(hiddenBy, surroundings.home)}, which counts here`,
    );
  else if (definition.hides.length > 0)
    out.note(
      `It hides the server of the same name in ${definition.hides.map((other) => shortPath(other, surroundings.home)).join(", ")}`,
    );

  const isTried = check && hiddenBy === undefined && definition.enabled && definition.trusted;
  if (check && hiddenBy === undefined && !definition.trusted) {
    warn(out, `The file has servers that are not trusted yet, so nothing of it is started: nexus mcp trust`);
  }
  const { connectOnce } = await import("./first-connection.ts");
  const outcome = isTried ? await connectOnce(servers, definition, signal) : undefined;
  if (!out.json) {
    report(out, definition, outcome);
    if (outcome?.ok) await tellMissingSecrets(context, definition);
    return;
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
    check: outcome?.ok === false ? { ok: false, ...renderForPrograms(outcome.error) } : outcome,
  });
}

function report(out: Output, { id, enabled }: ServerDefinition, outcome: FirstConnection | undefined): void {
  if (!enabled) out.line(`It is switched off; switch it on with: nexus mcp enable ${id}`);
  if (!outcome) return;
  if (!outcome.ok) {
    warn(out, `It does not work yet. ${renderForPeople(outcome.error)}`);
    out.note(`Try it again with: nexus mcp connect ${id}`);
    return;
  }
  const { era, protocolVersion, serverInfo, tools } = outcome;
  const title = visible([serverInfo?.name ?? id, serverInfo?.version].filter((part) => part !== undefined).join(" "));
  const counted = tools === undefined ? "no tools" : `${tools} ${tools === 1 ? "tool" : "tools"}`;
  out.line(`${out.style("green", "It works:")} ${title}, revision ${protocolVersion} (${era}), ${counted}`);
  if (tools !== undefined) out.line(`Look at them with: nexus mcp tools ${id}`);
}

/** Tools of an API are listed without its secrets; calls need them. */
async function tellMissingSecrets(
  { out, surroundings, stateFolder }: Omit<CommandContext, "options">,
  { id, entry }: ServerDefinition,
): Promise<void> {
  if (entry?.reach.kind !== "api") return;
  const { secretStore } = await import("../../host/servers/load-options.ts");
  const { apiFindings } = await import("../doctor/api-checks.ts");
  const findings = await apiFindings(entry.reach, id, secretStore(surroundings, stateFolder));
  const advice = findings.flatMap(([, finding]) => finding.advice ?? []);
  if (advice.length === 0) return;
  out.line("To give its tools their secrets:");
  for (const line of advice) out.line(`  ${visible(line)}`);
}

function warn(out: Output, text: string): void {
  out.note(`${out.onStderr("yellow", "warning:")} ${text}`);
}
