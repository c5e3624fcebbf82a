import { RecentMap } from "../../../async/recent-map.ts";
import { createHash } from "node:crypto";
import type { TokenSet } from "../../../auth/oauth/stored-credential.ts";
import { NexusError } from "../../../errors/nexus-error.ts";
import type { UpstreamOAuthSpec } from "../../file/model/tool-file.ts";

/** How the access token of a request is obtained, with the values of the secrets. */
export interface TokenGrant {
  spec: UpstreamOAuthSpec;
  /** The address that requests go to. */
  url: string;
  clientId: string;
  clientSecret: string | undefined;
  /** The full names of the client's secrets, for messages. */
  secrets: string[];
  refresh?: {
    /** The full name of the secret. */
    name: string;
    token: string;
    /** Another process may have stored a newer one. */
    find: () => Promise<string | undefined>;
  };
}

/** Requests a token; with `refreshToken`, by that one. */
type RequestToken = (grant: TokenGrant, refreshToken: string | undefined) => Promise<TokenSet>;

/** Called when the authorization server gave a new refresh token in place of the stored one. */
export type OnRotation = (name: string, token: string) => Promise<void>;

interface TokenOptions {
  request: RequestToken;
  onRotation: OnRotation;
  now: () => number;
}

interface Entry {
  /** One request at a time: calls that need a token meanwhile wait for the same. */
  pending?: Promise<TokenSet> | undefined;
  tokens?: TokenSet;
  /** The newest one; undefined: that of the grant. */
  refreshToken?: string | undefined;
}

/** Arguments in the names of secrets make several entries for one API. */
const MAX_ENTRIES = 500;
const MARGIN_MS = 60_000;

/** The access tokens of one API, in memory. They are renewed before they expire. */
export class UpstreamTokens {
  readonly #entries = new RecentMap<string, Entry>({ most: MAX_ENTRIES });

  /** A token that is still valid. `refused`: one that the API did not accept. */
  async get(grant: TokenGrant, options: TokenOptions, refused?: string): Promise<string> {
    const entry = this.#entry(grant);
    const { tokens } = entry;
    if (tokens && tokens.accessToken !== refused && isFresh(tokens, options.now())) return tokens.accessToken;
    const other = entry.pending;
    if (other) {
      const shared = await other.catch((error: unknown) => {
        // The connection that asked for it ended; this one did not.
        if (error instanceof NexusError && error.code === "CLOSED") return undefined;
        throw error;
      });
      return shared ? shared.accessToken : this.get(grant, options, refused);
    }
    entry.pending = this.#renew(entry, grant, options).finally(() => (entry.pending = undefined));
    return (await entry.pending).accessToken;
  }

  /** Never serialised. */
  toJSON(): undefined {
    return undefined;
  }

  #entry(grant: TokenGrant): Entry {
    const key = keyOf(grant, grant.refresh?.token);
    const known = this.#entries.get(key) ?? {};
    this.#entries.set(key, known);
    return known;
  }

  async #renew(entry: Entry, grant: TokenGrant, { request, onRotation }: TokenOptions): Promise<TokenSet> {
    const { refresh } = grant;
    let used = entry.refreshToken ?? refresh?.token;
    const tokens = await request(grant, used).catch(async (error: unknown) => {
      const stored = await refresh?.find();
      if (stored === undefined || stored === "" || stored === used) throw error;
      used = stored;
      // Not the old one again: a server may take a second use of it for a theft, and revoke all.
      entry.refreshToken = stored;
      this.#entries.set(keyOf(grant, stored), entry);
      return request(grant, stored);
    });
    entry.tokens = tokens;
    const { refreshToken } = tokens;
    if (refresh && refreshToken !== undefined && refreshToken !== used) {
      entry.refreshToken = refreshToken;
      // If it is stored, the next call finds it under the new value.
      this.#entries.set(keyOf(grant, refreshToken), entry);
      await onRotation(refresh.name, refreshToken);
    }
    return tokens;
  }
}

function isFresh({ expiresAt, obtainedAt }: TokenSet, now: number): boolean {
  if (expiresAt === undefined) return true;
  return now < expiresAt - Math.min(MARGIN_MS, (expiresAt - obtainedAt) / 10);
}

/** A changed secret needs a new token. The values themselves are not kept as a key. */
function keyOf({ spec, url, clientId, clientSecret }: TokenGrant, refreshToken: string | undefined): string {
  const { grant, scope, audience, client } = spec;
  const facts = [url, grant, clientId, clientSecret, refreshToken, scope, audience, client];
  return createHash("sha256").update(JSON.stringify(facts)).digest("hex");
}
