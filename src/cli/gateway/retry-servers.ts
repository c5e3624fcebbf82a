import { SERVERS } from "../../operations/servers.ts";
import { mapConcurrently } from "../../async/map-concurrently.ts";
import { exitCodeFor, failuresForPrograms, reportFailures, SERVERS_AT_ONCE } from "../command/ask-servers.ts";
import { workingText } from "./change-servers.ts";
import { failureOf, idIn, openServersElsewhere, type ElsewhereContext } from "./open-servers.ts";

/** nexus mcp retry docs --gateway URL */
export async function retryRemoteServers(context: ElsewhereContext): Promise<number> {
  const { out, words } = context;
  const { client, tenant } = await openServersElsewhere(context);
  const isOne = words.length > 0;
  const chosen = isOne
    ? [idIn(context)]
    : (await client.list(SERVERS.listServers, { tenant }))
        .filter(({ state }) => state.kind === "failed")
        .map(({ id }) => id);
  const tried = await mapConcurrently(chosen, (id) => client.call(SERVERS.retryServer, { tenant, id }), {
    limit: SERVERS_AT_ONCE,
  });
  const failures = tried.flatMap((view) => failureOf(view) ?? []);
  const answers = tried.filter((view) => !failureOf(view));
  const [only] = failures;
  if (isOne && only) throw only;
  if (out.json) {
    const items = answers.map(({ id, state, tools }) => {
      const { kind, era, protocolVersion } = state;
      return { server: id, state: kind, era, protocolVersion, tools };
    });
    out.value({ items, errors: failuresForPrograms(failures) });
  } else if (chosen.length === 0) {
    out.line("No server has failed. To connect again anyway, name a server.");
  }
  if (!out.json) {
    for (const view of answers) {
      const how = view.state.kind === "ready" ? workingText(view) : view.state.kind;
      out.line(`${out.style("green", "✓")} ${out.style("bold", view.id)}  ${how}`);
    }
  }
  reportFailures(out, failures);
  return exitCodeFor(answers.length, failures);
}
