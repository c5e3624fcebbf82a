import type { CancelSignal } from "../../async/cancellation.ts";
import { unlessAborted } from "../../async/unless-aborted.ts";
import { messageOf } from "../../errors/nexus-error.ts";
import type { RunnerParts } from "./runner-parts.ts";
import type { OnRotation, TokenGrant } from "./secrets/upstream-tokens.ts";
import type { ToolPlan } from "./tool-plan.ts";
import type { OutgoingRequest } from "./upstream.ts";

const MAX_TIMEOUT_MS = 20_000;

/** The request with its access token. */
export function withToken(request: OutgoingRequest, token: string): OutgoingRequest {
  return { ...request, headers: { ...request.headers, authorization: `Bearer ${token}` } };
}

interface TokenWait {
  /** A token that the API did not accept. */
  refused?: string;
  leftMs?: number;
  /** Ends the waiting. The request for the token goes on: other calls may wait for it. */
  signal?: CancelSignal | undefined;
}

/** A valid access token; it is masked from now on. */
export async function accessToken(
  parts: RunnerParts,
  { spec }: ToolPlan,
  grant: TokenGrant,
  { refused, leftMs = spec.limits.timeoutMs, signal }: TokenWait = {},
): Promise<string> {
  const { tokens, upstream, hidden, now, api } = parts;
  const timeoutMs = Math.min(leftMs, MAX_TIMEOUT_MS);
  // Loaded when the first token is needed: most APIs need none.
  const { requestToken } = await import("./secrets/request-token.ts");
  const obtaining = tokens.get(
    grant,
    {
      now,
      onRotation: keepRotated(parts),
      request: async (by, refreshToken) => {
        const obtained = await requestToken(by, refreshToken, {
          now,
          title: api.file.title,
          post: (url, headers, body) => {
            // As it is sent: with the id and the secret of the client in one text.
            hidden.hide(headers["authorization"]?.replace(/^Basic /, "") ?? "");
            return upstream.send({ method: "POST", url, headers, body }, timeoutMs);
          },
        });
        hidden.add([obtained.refreshToken ?? ""]);
        return obtained;
      },
    },
    refused,
  );
  const token = await unlessAborted(obtaining, signal);
  hidden.add([token]);
  return token;
}

/** Stores a refresh token that replaces the one that was used; otherwise the operator has to know that it is lost. */
function keepRotated({ saveSecret, logger, hidden, api }: RunnerParts): OnRotation {
  const warn = (name: string, why: string) =>
    logger.warn(
      `${api.file.title} replaced the refresh token ${name}, but the new one ${why}. It is lost when this server ends; then run: nexus secrets set ${name}`,
    );
  return async (name, token) => {
    hidden.add([token]);
    if (!saveSecret) return warn(name, "cannot be stored here");
    await saveSecret(name, token).catch((error: unknown) =>
      warn(name, `could not be stored (${hidden.in(messageOf(error))})`),
    );
  };
}
