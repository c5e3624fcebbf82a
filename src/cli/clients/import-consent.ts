import { isInside, realPath } from "../../files/paths.ts";
import type { ImportedServer } from "../../config/import/import.ts";
import type { ConfigContext } from "../../config/read/places.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { visible } from "../../text/visible.ts";
import type { CommandContext } from "../command/command.ts";
import type { Output } from "../output/output.ts";
import { circumstancesAsWritten, reachAsWritten } from "../configure/entry-words.ts";

/** Whether others may have written the entry: its file is in the working folder. */
export function isOfOthers({ scope, source }: ImportedServer, { cwd, home }: ConfigContext): boolean {
  if (scope === "project") return true;
  const folder = realPath(cwd);
  return isInside(realPath(source.file), folder) && !isInside(realPath(home), folder);
}

/** Exactly what the entries would start and send, as written. */
export function showForeign(out: Output, servers: readonly ImportedServer[]): void {
  for (const { id, source, entry, inputs } of servers) {
    out.line(`${out.style("bold", id)} in ${visible(source.file)}`);
    out.line(`  ${reachAsWritten(entry)}`);
    for (const line of circumstancesAsWritten(entry)) out.line(`    ${line}`);
    for (const { id: input, default: fallback } of inputs) {
      if (fallback !== undefined) out.line(`    \${input:${visible(input)}} defaults to ${visible(fallback)}`);
    }
  }
}

/** Shows the entries and asks whether to copy them; throws if there is no terminal. */
export async function isImportAgreed(
  { out, signal }: Pick<CommandContext, "out" | "signal">,
  servers: readonly ImportedServer[],
): Promise<boolean> {
  const [first] = servers;
  if (!first) return true;
  if (!out.isInteractive) throw untrusted(first, servers);
  showForeign(out, servers);
  const { askFor } = await import("../output/terminal-questions.ts");
  const what = servers.length === 1 ? "this server" : `these ${servers.length} servers`;
  const answer = await askFor(out, {
    text: `Copy ${what} to your own configuration, from which servers are started? y/N`,
    signal,
  });
  return /^y(?:es)?$/i.test(answer.trim());
}

function untrusted({ id, source }: ImportedServer, servers: readonly ImportedServer[]): NexusError {
  const names = servers.map((server) => server.id).join(" ");
  return new NexusError(
    "UNTRUSTED",
    `Server "${id}" is configured in a file of this folder, which another person may have written`,
    {
      server: id,
      source,
      hint: `Review it with "nexus mcp import ${names} --dry-run", then add --yes.`,
      mayHaveReached: false,
    },
  );
}
