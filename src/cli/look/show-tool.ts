import { quoteWord } from "../../text/shell-words.ts";
import { nearNames } from "../../text/nearest-name.ts";
import type { NexusError } from "../../errors/nexus-error.ts";
import { visible } from "../../text/visible.ts";
import { modelName } from "../../host/directory/names.ts";
import { unknownName } from "../../host/directory/unknown-name.ts";
import type { Tool } from "../../protocol/mcp.ts";
import { exitCodeFor, failuresForPrograms, reportFailures } from "../command/ask-servers.ts";
import { asksAnyone, type CommandContext } from "../command/command.ts";
import { requireAllowed } from "../command/entry-rules.ts";
import type { ServerSet } from "../command/server-set.ts";
import { collect, type Listing } from "./list-command.ts";
import { toolDetails } from "./tool-details.ts";

interface ShowOptions {
  readonly server?: string | undefined;
}

/** Shows the tool of that name in full, for each server that has one. */
export async function showTool(
  context: CommandContext<ShowOptions>,
  listing: Listing<Tool>,
  name: string,
): Promise<number> {
  const { out } = context;
  await using servers = await context.openServers(asksAnyone);
  // Denied tools are included: "denied" is a better answer than "unknown".
  const { allowed: _allowed, ...all } = listing;
  const { answers, failures } = await collect(context, servers, all);
  const found = answers.flatMap(({ server, value }) => {
    const same = value.shown.filter((tool) => tool.name === name || `${server}.${tool.name}` === name);
    return same.map((tool) => ({ server, tool }));
  });
  if (found.length === 0) requireNotHeld(name, answers, servers);
  if (found.length === 0 && failures.length === 0) {
    throw unknown(
      name,
      servers,
      answers.flatMap(({ server, value }) => value.shown.map((tool) => ({ server, name: tool.name }))),
    );
  }
  const permitted = found.filter(({ server, tool }) => listing.allowed?.([tool], server, servers).length !== 0);
  const [denied] = found;
  if (denied && permitted.length === 0) {
    const { server, tool } = denied;
    await requireAllowed(servers, { kind: "tool", server, name: tool.name });
  }
  if (out.json) {
    const items = permitted.map(({ server, tool }) => Object.assign({ server }, tool, { server }));
    out.value({ items, errors: failuresForPrograms(failures) });
  } else {
    for (const [index, { server, tool }] of permitted.entries()) {
      if (index > 0) out.line();
      const title = servers.inPlace ? tool.name : `${server}.${tool.name}`;
      const isTypable = visible(title) === title;
      const words = `${isTypable ? quoteWord(title) : modelName(server, tool.name)}${servers.optionsAgain}`;
      const call = out.typed(`nexus mcp call ${words}`);
      for (const line of toolDetails(tool, { title, call }, out)) out.line(line);
      if (!isTypable) out.note("Its name has characters that cannot be typed; the call uses an equivalent name.");
    }
    reportFailures(out, failures, { inBrief: permitted.length > 0 });
    if (found.length === 0) out.note(`None of the servers that answered has a tool "${visible(name)}".`);
  }
  return exitCodeFor(answers.length, failures);
}

/** "Held" is a better answer than "unknown" as well. */
function requireNotHeld(
  name: string,
  answers: readonly { server: string; value: { held: readonly string[] } }[],
  { pins }: ServerSet,
): void {
  for (const { server, value } of answers) {
    const held = value.held.find((each) => each === name || `${server}.${each}` === name);
    // No hash of a definition is empty.
    if (held !== undefined) pins.requireAccepted({ server, kind: "tools", name: held, hash: "" });
  }
}

function unknown(name: string, servers: ServerSet, known: readonly { server: string; name: string }[]): NexusError {
  const near = nearNames(name, [...new Set(known.map((tool) => tool.name))], 3);
  const [only] = new Set(known.map(({ server }) => server));
  const isOne = only !== undefined && known.every(({ server }) => server === only);
  const list = `"nexus mcp tools${isOne ? servers.wordsFor(only) : servers.optionsAgain}" lists ${known.length === 1 ? "it" : `all ${known.length}`}.`;
  const isSearched = isOne && known.some((tool) => /(?:^|\.)search_tools$/.test(tool.name));
  const search = isSearched ? " Tools that are not listed are found with search_tools and called with call_tool." : "";
  const meant = near.length === 0 ? "" : `Did you mean ${near.map((one) => `"${one}"`).join(" or ")}? `;
  return unknownName("tool", name, {
    server: isOne ? only : undefined,
    hint: known.length === 0 ? "There are no tools." : `${meant}${list}${search}`,
  });
}
