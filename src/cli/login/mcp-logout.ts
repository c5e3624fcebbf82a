import type { LogoutResult } from "../../auth/authorize/oauth-credentials.ts";
import { openOAuth } from "../../client/connect/credentials-for.ts";
import { networkTrust } from "../../client/connect/http-transport-for.ts";
import { asNexusError } from "../../errors/nexus-error.ts";
import { renderForPrograms } from "../../errors/render.ts";
import { visible } from "../../text/visible.ts";
import { defineCommand, IN_PLACE, TENANT, type CommandContext } from "../command/command.ts";
import { noteLogin, openTargets, pickTarget, type LoginTarget } from "./login-target.ts";

/** nexus mcp logout github */
export const logout = defineCommand({
  usage: "nexus mcp logout <server>",
  description: `
Asks the authorization server to end the tokens of a server (RFC 7009), where it offers that, and removes them from this
machine in any case.`,
  words: { min: 0, max: 1 },
  options: { url: IN_PLACE.url, ...TENANT },
  examples: [
    ["nexus mcp logout github", "end the login to a configured server"],
    ["nexus mcp logout https://example.com/mcp", "end the login to a server that is not configured"],
    ["nexus mcp logout github --json", `{"server":"github","removed":true,"revoked":true}`],
  ],

  async run(context) {
    const { out } = context;
    await using servers = await openTargets(context);
    const target = await pickTarget(servers, context);
    const { removed, revoked, problem } = await logOut(target, context);
    const { id } = target;
    if (removed) await noteLogin(target, servers, { kind: "failed", code: "AUTH_REQUIRED", message: "Logged out" });
    if (out.json) {
      out.value({ server: id, removed, revoked, ...(problem && { problem: renderForPrograms(problem).error }) });
      return;
    }
    const name = out.style("bold", visible(id));
    if (!removed) return out.line(`There is no login to ${name} on this machine.`);
    out.line(`Logged out of ${name}. The tokens were removed from this machine${revoked ? " and revoked" : ""}.`);
    if (problem) out.note(`The authorization server did not revoke them: ${visible(problem.message)}`);
    else if (!revoked)
      out.note("The authorization server offers no revocation: the tokens are valid until they expire.");
  },
});

async function logOut(
  { id, entry, reach, storage, guard }: LoginTarget,
  { surroundings, signal }: CommandContext<unknown>,
): Promise<LogoutResult> {
  const credentials = await openOAuth(reach, { surroundings, trust: networkTrust(entry, {}), storage, guard });
  try {
    return await credentials.logout(signal);
  } catch (error) {
    if (signal.aborted) throw error;
    // A file that cannot be read is removed as well.
    const problem = asNexusError(error).with({ server: id });
    return { removed: await storage.remove(reach.url), revoked: false, problem };
  }
}
