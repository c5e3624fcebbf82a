import type { OAuthSettings } from "../../auth/oauth/oauth-settings.ts";
import type { StoredCredential } from "../../auth/oauth/stored-credential.ts";
import { openOAuth } from "../../client/connect/credentials-for.ts";
import { networkTrust } from "../../client/connect/http-transport-for.ts";
import { asNexusError, NexusError } from "../../errors/nexus-error.ts";
import { durationText } from "../../text/duration.ts";
import type { Surroundings } from "../../transport/surroundings.ts";
import type { Output } from "../output/output.ts";
import type { LoginTarget } from "./login-target.ts";
import { terminalLogin } from "./terminal-login.ts";

export interface LoginOptions {
  out: Output;
  surroundings: Surroundings;
  signal: AbortSignal;
  timeoutMs?: number | undefined;
  usesBrowser?: boolean | undefined;
  /** Instead of what the entry says. */
  settings?: OAuthSettings | undefined;
}

const TIMEOUT_MS = 5 * 60_000;

/** Lets the user log in to a server, and keeps the credential. */
export async function logIn(target: LoginTarget, options: LoginOptions): Promise<StoredCredential> {
  const { id, entry, reach, storage, guard } = target;
  const { out, surroundings, signal, timeoutMs = TIMEOUT_MS, usesBrowser = true, settings } = options;
  const { oauth } = reach;
  const known = oauth ? (oauth.clientId ?? oauth.clientMetadataUrl) : undefined;
  const isKnown = known !== undefined;
  await removeDamaged(target);
  const credentials = await openOAuth(reach, {
    surroundings,
    trust: networkTrust(entry, {}),
    storage,
    settings,
    guard,
    login: terminalLogin({ out, machine: surroundings, server: id, usesBrowser, isKnown }),
  });
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), timeoutMs);
  try {
    return await credentials.login(AbortSignal.any([signal, limit.signal]));
  } catch (error) {
    if (limit.signal.aborted && !signal.aborted) throw notInTime(id, timeoutMs);
    throw asNexusError(error).with({ server: id });
  } finally {
    clearTimeout(timer);
  }
}

/** A kept login that can no longer be read is replaced. */
async function removeDamaged({ reach, storage }: LoginTarget): Promise<void> {
  try {
    await storage.load(reach.url);
  } catch (error) {
    if (asNexusError(error).code !== "AUTH_REQUIRED") throw error;
    await storage.remove(reach.url);
  }
}

function notInTime(server: string, timeoutMs: number): NexusError {
  return new NexusError("TIMEOUT", `The login to "${server}" was not completed within ${durationText(timeoutMs)}`, {
    server,
    hint: "Start it again. To allow more time, add --timeout 15m.",
    mayHaveReached: false,
  });
}
