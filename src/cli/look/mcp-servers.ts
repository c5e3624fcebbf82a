import { agoText } from "../../text/duration.ts";
import type { Configuration } from "../../config/load.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { renderForPrograms } from "../../errors/render.ts";
import { visible } from "../../text/visible.ts";
import { pluralize } from "../output/amounts.ts";
import { exitCodeFor, failuresForPrograms } from "../command/ask-servers.ts";
import { isElsewhere } from "../command/command-line.ts";
import { defineCommand, SERVED } from "../command/command.ts";
import { nothingToAsk } from "./no-servers.ts";
import { reachMember, reachText } from "./reach-text.ts";
import { placeText, shortPath } from "../output/short-path.ts";
import type { ServerSet } from "../command/server-set.ts";
import type { ServerLogin, ServerLogins } from "./server-logins.ts";
import type { Surroundings } from "../../transport/surroundings.ts";
import type { Sighting } from "../command/sightings.ts";
import { tableLines, type Cell } from "../output/table.ts";
import { loadWrittenEntries, type WrittenEntry } from "./written-entries.ts";

/** nexus mcp servers */
export const servers = defineCommand({
  usage: "nexus mcp servers [server]",
  description: `Does not start or contact any server: it shows the configuration, the result of the last connection, and for servers
over HTTP whether a login is kept (logged in), has expired, or is needed. With a name, only that server is shown.
Values of variables, headers and passwords are never shown.`,
  options: SERVED,
  examples: [
    ["nexus mcp servers", "all servers, with command or URL and configuration file"],
    ["nexus mcp servers --config ./mcp.json", "servers of one file"],
    ["nexus mcp servers --tenant shop", "servers of a tenant of the gateway"],
    [
      "nexus mcp servers --gateway https://gateway.example",
      "servers of a gateway elsewhere and their states, with the key of an operator in NEXUS_KEY",
    ],
    [`nexus mcp servers --json | jq -r '.servers[] | select(.enabled) | .id'`, "print the ids of all enabled servers"],
  ],

  async run(context) {
    if (isElsewhere(context)) {
      const { listRemoteServers } = await import("../gateway/servers.ts");
      return listRemoteServers(context);
    }
    const { out, surroundings, words } = context;
    await using set = await context.openServers();
    const [name] = words;
    const { configuration, fileProblems } = set;
    const written = new Map<string, Map<string, WrittenEntry>>();
    for (const { file } of configuration.files) written.set(file, await loadWrittenEntries(file));
    const logins = await loginsOf(set, surroundings);
    const chosen = name === undefined ? configuration.servers : [set.get(name)];
    const known = await Promise.all(
      chosen.map(async (definition): Promise<Known> => {
        const { origin, id } = definition;
        const entry = set.stored?.get(id) ?? (origin && written.get(origin.file)?.get(id)) ?? {};
        const sighting = await set.sightings.find(definition);
        return { definition, entry, sighting, login: logins?.find(definition, sighting) };
      }),
    );
    if (out.json) {
      out.value({
        servers: known.map(forPrograms),
        ...filesForPrograms(configuration),
        errors: failuresForPrograms([...fileProblems, ...(logins?.problem ? [logins.problem] : [])]),
      });
      return exitCodeFor(0, fileProblems);
    }
    const { home } = surroundings;
    const hasLogins = known.some(({ login }) => login);
    const rows = known.map((server) => rowOf(server, { home, tenant: set.tenant, hasLogins }));
    const headings = HEADINGS.filter((heading) => hasLogins || heading !== LOGIN_HEADING);
    if (rows.length > 0) for (const line of tableLines(out, [headings, ...rows])) out.line(line);
    if (logins?.problem) {
      out.warn(`The kept logins cannot be read: ${logins.problem.message}`);
    }
    for (const note of [
      ...known.flatMap(({ definition }) => notesOn(definition, home)),
      ...untrusted(configuration, home),
    ]) {
      out.note(note);
    }
    for (const { message, source } of configuration.warnings) {
      const place = `${shortPath(source.file, home)}:${source.line}`;
      out.warn(`${visible(message)} (${place})`);
    }
    for (const problem of fileProblems) out.error(problem);
    if (name !== undefined) return exitCodeFor(0, fileProblems);
    if (rows.length > 0) out.note(footer(set));
    else if (fileProblems.length === 0) out.note(nothingToAsk(set));
    return exitCodeFor(0, fileProblems);
  },
});

interface Known {
  definition: ServerDefinition;
  /** As written in its file. */
  entry: WrittenEntry;
  sighting: Sighting | undefined;
  login: ServerLogin | undefined;
}

const LOGIN_HEADING: Cell = { text: "login", style: "dim" };
const HEADINGS: Cell[] = [
  { text: "server", style: "dim" },
  { text: "state", style: "dim" },
  LOGIN_HEADING,
  { text: "command or URL", style: "dim" },
  { text: "configured in", style: "dim" },
];

/** The kept logins. Most users have only programs, for which nothing of OAuth is loaded. */
async function loginsOf(set: ServerSet, surroundings: Surroundings): Promise<ServerLogins | undefined> {
  const { servers: all } = set.configuration;
  if (!all.some(({ entry }) => entry && "url" in entry.reach)) return undefined;
  const { ServerLogins: Logins } = await import("./server-logins.ts");
  return Logins.open(all, { surroundings, stateFolder: set.stateFolder });
}

interface RowContext {
  home: string;
  tenant: string;
  /** Whether the table has the column of logins. */
  hasLogins: boolean;
}

function rowOf({ definition, entry, sighting, login }: Known, { home, tenant, hasLogins }: RowContext): Cell[] {
  const { id, name, origin } = definition;
  return [
    { text: name === undefined ? id : visible(`${id} (${name})`), style: definition.enabled ? "bold" : "dim" },
    stateOf(definition, sighting),
    ...(hasLogins ? [login?.cell ?? ""] : []),
    visible(isPublished(definition) ? "a published API" : (reachText(entry) ?? "?")),
    { text: origin ? placeText(origin, home) : isPublished(definition) ? "store" : `tenant ${tenant}`, style: "dim" },
  ];
}

function isPublished({ entry }: ServerDefinition): boolean {
  return entry?.reach.kind === "api" && entry.reach.published !== undefined;
}

function stateOf({ enabled, trusted, problem }: ServerDefinition, sighting: Sighting | undefined): Cell {
  if (!enabled) return { text: "disabled", style: "dim" };
  if (problem) return { text: "cannot run", style: "red" };
  if (!trusted) return { text: "not trusted", style: "yellow" };
  if (!sighting?.outcome) return { text: "not used yet" };
  const ago = agoText(sighting.at);
  const { outcome } = sighting;
  if (outcome.kind === "failed") return { text: `failed ${ago} (${visible(outcome.code)})`, style: "red" };
  return { text: `${visible(`${outcome.era} ${outcome.protocolVersion}`)}, ${ago}`, style: "green" };
}

/** What does not fit into a row. */
function notesOn({ id, enabled, problem, hides }: ServerDefinition, home: string): string[] {
  const hidden = hides.map((file) => shortPath(file, home)).join(", ");
  return [
    ...(problem && enabled
      ? [visible(`${id}: ${withoutName(problem.message, id)}. ${problem.hint ?? ""}`).trimEnd()]
      : []),
    ...(hides.length > 0 ? [`${id}: hides the server with the same name in ${hidden}`] : []),
  ];
}

function untrusted({ files }: Configuration, home: string): string[] {
  return files
    .filter(({ trusted, servers: count, problem }) => !trusted && count > 0 && !problem)
    .map(
      ({ file }) =>
        `${shortPath(file, home)} is not trusted, so none of its servers is started. Review it: nexus mcp trust --show`,
    );
}

function withoutName(message: string, id: string): string {
  return message.replace(`Server "${id}": `, "");
}

function footer({ configuration: { servers: all, files }, stored, tenant }: ServerSet): string {
  const off = all.filter(({ enabled }) => !enabled).length;
  const published = all.filter(isPublished).length;
  const where = stored ? `of the tenant "${tenant}"` : `in ${pluralize(files.length, "file")}`;
  const more = [...(published > 0 ? [`${published} published`] : []), ...(off > 0 ? [`${off} disabled`] : [])];
  return [`${pluralize(all.length - (stored ? 0 : published), "server")} ${where}`, ...more].join(", ");
}

function forPrograms({ definition, entry, sighting, login }: Known): Record<string, unknown> {
  const { id, name, enabled, autoStart, trusted, origin, hides, problem } = definition;
  return {
    id,
    name,
    transport: definition.entry?.reach.kind,
    ...reachMember(entry),
    ...(isPublished(definition) && { published: true }),
    enabled,
    autoStart,
    trusted,
    source: origin,
    hides,
    problem: problem && renderForPrograms(problem).error,
    login: login?.forPrograms,
    lastSeen: sighting?.outcome && { at: new Date(sighting.at).toISOString(), ...sighting.outcome },
  };
}

function filesForPrograms({ files, warnings }: Configuration): Record<string, unknown> {
  return {
    files: files.map(({ file, layer, servers: count, trusted, problem }) => {
      return { file, layer, servers: count, trusted, problem: problem && renderForPrograms(problem).error };
    }),
    warnings,
  };
}
