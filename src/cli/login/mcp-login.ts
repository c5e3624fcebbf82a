import type { OAuthSettings } from "../../auth/oauth/oauth-settings.ts";
import { credentialSummary, type CredentialSummary } from "../../auth/oauth/credential-files.ts";
import { visible } from "../../text/visible.ts";
import { defineCommand, IN_PLACE, TENANT, type CommandContext } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { factLines } from "../output/facts.ts";
import { logIn } from "./log-in.ts";
import { noteLogin, openTargets, pickTarget } from "./login-target.ts";
import { loginForPrograms, loginStateText, loginStateOf } from "./login-words.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { openCredentials } from "../../host/servers/load-options.ts";
import { maskUrl } from "../../masking/mask-words.ts";
import { hasAuthorization } from "../../transport/http-sender.ts";
import type { HttpReach } from "../../transport/server-entry.ts";
import { failuresForPrograms } from "../command/ask-servers.ts";
import type { ServerSet } from "../command/server-set.ts";
import { tableLines, type Cell } from "../output/table.ts";

/** nexus mcp login github */
export const login = defineCommand({
  usage: "nexus mcp login <server> [--no-browser | --device] [--scope SCOPE]…",
  description: `
Logs in to a server over HTTP that requires it (OAuth), and keeps the login, encrypted, for all commands and the gateway. It
is renewed when it expires. The server is a configured one, or a URL.

The page of the authorization server is opened in your browser, which is then sent back to a port of this machine. With
--no-browser nothing is opened: use the page on any machine, and paste the address to which the browser was sent. With --device, enter a short code
on any device. The login is abandoned after 5 minutes; --timeout sets another limit.`,
  words: { min: 0, max: 1 },
  options: {
    "no-browser": { type: "boolean", help: "print the page and read the address from the terminal or stdin" },
    device: { type: "boolean", help: "log in with a code that is entered on any device" },
    scope: { type: "string", multiple: true, value: "SCOPE", help: "ask for this scope; repeatable" },
    list: { type: "boolean", help: "list the kept logins, without secrets" },
    url: IN_PLACE.url,
    ...TENANT,
  },
  examples: [
    ["nexus mcp login github", "log in with the browser on this machine"],
    ["nexus mcp login github --no-browser", "over SSH: open the page elsewhere, and paste the address"],
    ["nexus mcp login github --device", "enter a code on a phone"],
    ["nexus mcp login github --scope repo --scope read:user", "ask for these scopes"],
    ["nexus mcp login https://example.com/mcp", "log in to a server that is not configured"],
    ["nexus mcp login --list", "list the kept logins and when they expire"],
    ["nexus mcp login --list --json | jq -r '.items[].url'", "print the URLs of the servers"],
  ],

  async run(context) {
    const { words, options, flags, out, surroundings, signal } = context;
    if (options.list) {
      const given = words.length > 0 || options.url !== undefined || options.device || options["no-browser"];
      if (given) throw wrongUsage("--list shows all kept logins", "Use it without a server and other options.");
      return listLogins(context);
    }
    if (options.device && options["no-browser"]) {
      throw wrongUsage("--device and --no-browser cannot be used together", "Use one of them.");
    }
    await using servers = await openTargets(context);
    const target = await pickTarget(servers, context);
    const settings: OAuthSettings = {
      ...(options.device && { grant: "device_code" as const }),
      ...(options.scope && { scopes: options.scope.flatMap((scope) => scope.split(/[\s,]+/)).filter(Boolean) }),
    };
    const credential = await logIn(target, {
      out,
      surroundings,
      signal,
      timeoutMs: flags.timeoutMs,
      usesBrowser: !options["no-browser"],
      settings,
    });
    await noteLogin(target, servers, undefined);
    const summary = credentialSummary(credential);
    if (out.json) return out.value({ server: target.id, ...loginForPrograms(summary) });
    const { issuer, scopes } = summary;
    const facts = [
      ["issuer", [issuer]],
      ["scopes", scopes.length > 0 ? [scopes.join(" ")] : []],
      ["state", [loginStateText(summary)]],
    ] as const;
    for (const line of factLines(out, visible(`Logged in to ${target.id}`), facts)) out.line(line);
  },
});

const HEADINGS: Cell[] = ["server", "state", "issuer", "scopes"].map((text) => ({ text, style: "dim" }));
const STYLES = { valid: "green", renewable: "green", expired: "yellow", registered: "dim" } as const;

/** Prints all kept logins, without secrets. */
async function listLogins({ out, surroundings, openServers }: CommandContext<unknown>): Promise<void> {
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
    visible(each.issuer),
    { text: visible(each.scopes.join(" ")), style: "dim" },
  ]);
  if (rows.length > 0) for (const line of tableLines(out, [HEADINGS, ...rows])) out.line(line);
  for (const { message, details, hint } of errors) {
    out.warn(`${message}: ${details.source?.file}. ${hint}`);
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
