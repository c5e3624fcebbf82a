import type { CredentialSummary } from "../../auth/oauth/credential-files.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { openCredentials } from "../../host/servers/load-options.ts";
import { maskUrl } from "../../text/mask-secrets.ts";
import { hasAuthorization } from "../../transport/http-sender.ts";
import type { HttpReach } from "../../transport/server-entry.ts";
import { visible } from "../../text/visible.ts";
import { failuresForPrograms } from "../command/ask-servers.ts";
import type { CommandContext } from "../command/command.ts";
import type { ServerSet } from "../command/server-set.ts";
import { tableLines, type Cell } from "../output/table.ts";
import { loginForPrograms, loginStateOf, loginStateText } from "./login-words.ts";

const HEADINGS: Cell[] = ["server", "state", "issuer", "scopes"].map((text) => ({ text, style: "dim" }));
const STYLES = { valid: "green", renewable: "green", expired: "yellow", registered: "dim" } as const;

/** Prints all kept logins, without secrets. */
export async function listLogins({ out, surroundings, openServers }: CommandContext<unknown>): Promise<void> {
  await using servers = await openServers();
  const storage = await openCredentials(surroundings, servers.stateFolder);
  const { credentials, unreadable } = await storage.list();
  const errors = unreadable.map(damaged);
  if (out.json) {
    const items = credentials.map((each) => ({ servers: namesOf(each, servers), ...loginForPrograms(each) }));
    return out.value({ items, errors: failuresForPrograms(errors) });
  }
  const rows = credentials.map((each): Cell[] => [
    { text: visible(namesOf(each, servers).join(", ") || maskUrl(each.server)), style: "bold" },
    { text: loginStateText(each), style: STYLES[loginStateOf(each)] },
    { text: visible(each.issuer) },
    { text: visible(each.scopes.join(" ")), style: "dim" },
  ]);
  if (rows.length > 0) for (const line of tableLines(out, [HEADINGS, ...rows])) out.line(line);
  for (const { message, details, hint } of errors) {
    out.note(`${out.onStderr("yellow", "warning:")} ${message}: ${details.source?.file}. ${hint}`);
  }
  if (rows.length === 0 && errors.length === 0) {
    out.note(`No logins are kept. Log in: nexus mcp login SERVER${servers.optionsAgain}`);
  }
}

/** The configured servers that use it. */
function namesOf({ server, clientId }: CredentialSummary, { configuration }: ServerSet): string[] {
  const isFor = (reach: HttpReach) => {
    const isSame = URL.canParse(reach.url) && new URL(reach.url).href === new URL(server).href;
    if (!isSame || reach.oauth === false || hasAuthorization(reach)) return false;
    return (reach.oauth?.clientId ?? clientId) === clientId;
  };
  return configuration.servers
    .filter(({ entry }) => entry && "url" in entry.reach && isFor(entry.reach))
    .map(({ id }) => id);
}

function damaged(file: string): NexusError {
  return new NexusError("AUTH_REQUIRED", "A kept login cannot be decrypted", {
    phase: "config",
    source: { file },
    hint: "Log in again to the server that it was for, or delete the file.",
    mayHaveReached: false,
  });
}
