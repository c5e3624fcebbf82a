import { isDeepStrictEqual } from "node:util";
import type { Import, ImportedServer } from "../../config/import/import.ts";
import { isNexusEntry } from "../../config/nexus-entry.ts";
import { visible } from "../../text/visible.ts";
import { failuresForPrograms } from "../command/ask-servers.ts";
import type { Output } from "../output/output.ts";
import { reachMember, reachText } from "../look/reach-text.ts";
import { shortPath } from "../output/short-path.ts";

/** The servers of other programs, with a heading for each file, and how to import them. */
export function listImports(
  out: Output,
  { servers, problems }: Import,
  { present, home, path }: { present: ReadonlyMap<string, unknown>; home: string; path?: string | undefined },
): void {
  if (out.json) {
    const items = servers.map(({ id, name, client, scope, project, source, entry }) => {
      return {
        server: id,
        name,
        client,
        scope,
        project,
        source,
        ...reachMember({ ...entry }),
        present: present.has(id),
        isNexus: isNexusEntry(name, entry) || undefined,
      };
    });
    return out.value({ items, errors: failuresForPrograms(problems) });
  }
  if (servers.length === 0) {
    const none = path === undefined ? "No servers of other programs were found" : `${visible(path)} has no servers`;
    return out.note(`${none}. Add one: nexus mcp add NAME -- COMMAND …`);
  }
  const width = Math.max(...servers.map(({ id }) => id.length));
  for (const [heading, group] of byFile(servers, home)) {
    out.line(heading);
    for (const server of group) out.line(`  ${row(out, server, { width, present })}`);
    out.line();
  }
  const news = servers
    .filter(({ id, name, entry }) => !present.has(id) && !isNexusEntry(name, entry))
    .map(({ id }) => id);
  const [first] = news;
  if (first === undefined) out.line("All of these servers are already configured.");
  else out.advice(`To import: nexus mcp import ${first} … or nexus mcp import --all`);
}

function row(
  out: Output,
  { id, name, entry }: ImportedServer,
  { width, present }: { width: number; present: ReadonlyMap<string, unknown> },
): string {
  const isHere = present.has(id);
  const isSame = isHere && isDeepStrictEqual(present.get(id), entry);
  const isNexus = isNexusEntry(name, entry);
  const state = isNexus
    ? " (Nexus itself, not imported)"
    : isHere
      ? ` (${isSame ? "already configured" : "another server has this name"})`
      : "";
  const title = name === id ? "" : ` “${visible(name)}”`;
  const text = `${visible(reachText({ ...entry }) ?? "(neither command nor url)")}${title}`;
  // In full, because the user decides by what is shown here.
  return `${id.padEnd(width)}  ${text}${out.style("dim", state)}`;
}

function byFile(servers: readonly ImportedServer[], home: string): Map<string, ImportedServer[]> {
  const groups = new Map<string, ImportedServer[]>();
  for (const server of servers) {
    const { client, scope, project, source } = server;
    const whose = scope === "project" ? ", this project's" : project === undefined ? "" : `, for ${visible(project)}`;
    const heading = `${client}${whose} (${shortPath(source.file, home)})`;
    groups.set(heading, [...(groups.get(heading) ?? []), server]);
  }
  return groups;
}
