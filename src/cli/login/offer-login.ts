import { NexusError } from "../../errors/nexus-error.ts";
import { openCredentials } from "../../host/servers/load-options.ts";
import type { CommandContext } from "../command/command.ts";
import type { ServerSet } from "../command/server-set.ts";
import { askFor } from "../output/terminal-questions.ts";
import { logIn } from "./log-in.ts";
import { loginTarget, type LoginTarget } from "./login-target.ts";
import { loginUrlOf } from "./login-url.ts";
import { browserCommand } from "./open-browser.ts";

type OfferContext = Pick<CommandContext, "out" | "surroundings" | "signal">;

/** After a command failed because a server requires a login: offers it. True if the user has logged in. */
export async function offerLogin(failure: unknown, servers: ServerSet, context: OfferContext): Promise<boolean> {
  const target = await findTarget(failure, servers, context);
  if (!target) return false;
  const { out, surroundings, signal } = context;
  const text = `${target.id} requires a login. Log in to ${target.id} now? [y/N]`;
  const answer = await askFor(out, { text, signal }).catch((thrown: unknown) => {
    if (signal.aborted) throw thrown;
    return "";
  });
  if (!/^y(?:es)?$/i.test(answer.trim())) return false;
  const usesBrowser = browserCommand(new URL("https://example.com"), surroundings) !== undefined;
  await logIn(target, { out, surroundings, signal, usesBrowser });
  return true;
}

async function findTarget(
  error: unknown,
  servers: ServerSet,
  { surroundings }: OfferContext,
): Promise<LoginTarget | undefined> {
  if (!(error instanceof NexusError) || error.code !== "AUTH_REQUIRED") return undefined;
  const { server } = error.details;
  const definition = servers.inPlace ?? (server === undefined ? undefined : servers.directory.find(server));
  if (!definition || !loginUrlOf(definition)) return undefined;
  try {
    return loginTarget(definition, await openCredentials(surroundings, servers.stateFolder), servers.secrets);
  } catch {
    // It has no login, so the refusal is about something else.
    return undefined;
  }
}
