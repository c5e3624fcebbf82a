import { isTemporaryStatus } from "../../errors/error-traits.ts";
import { Cancellation, type CancelSignal } from "../../async/cancellation.ts";
import { unlessAborted } from "../../async/unless-aborted.ts";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import { SILENT, type Logger } from "../../text/logger.ts";
import type {
  AuthorizedRequest,
  CredentialHeaders,
  CredentialSource,
  Refusal,
} from "../../transport/credential-source.ts";
import { challengeOf, scopesIn, type Challenge } from "../oauth/challenge.ts";
import { oauthErrorCode } from "../oauth/oauth-failure.ts";
import { ProofKey } from "../oauth/proof-key.ts";
import {
  ownCredential,
  type CredentialStorage,
  type StoredCredential,
  type TokenSet,
} from "../oauth/stored-credential.ts";
import {
  API_KEY_HINT,
  AuthorizationClient,
  type AuthorizationClientOptions,
  type CredentialRequest,
} from "./authorization-client.ts";

/** Says how to log in; with the scopes to ask for where more are needed than before. */
type LoginHint = (scopes: readonly string[]) => string;

export interface OAuthCredentialsOptions extends Omit<AuthorizationClientOptions, "now"> {
  storage: CredentialStorage;
  /** Whose credential it is, where one process has those of several owners. */
  owner?: string | undefined;
  /** What a person should do if a login is needed. */
  loginHint?: LoginHint | undefined;
  /** Called with every secret that is obtained, so that it can be masked. */
  onSecret?: ((secret: string) => void) | undefined;
  logger?: Logger | undefined;
  now?: (() => number) | undefined;
}

export interface LogoutResult {
  /** False: nothing was kept. */
  removed: boolean;
  /** Whether the authorization server ended the tokens. */
  revoked: boolean;
  /** Why they could not be revoked. */
  problem?: NexusError | undefined;
}

interface RefusedToken {
  refused: string | undefined;
  challenge: Challenge;
  skipsRefresh: boolean;
  abandoned: CancelSignal;
}

const NO_HEADERS: CredentialHeaders = {};
/** A token is renewed this long before it ends, or a tenth of its lifetime where that is shorter. */
const EARLY_MS = 60_000;
/** After a failed renewal of a token that is still valid. */
const POSTPONED_MS = 10_000;
const MAX_ATTEMPTS = 3;

/**
 * The credential for one server: loaded from the storage, renewed before it ends and after a refusal, by one request at
 * a time in this process and, with a storage that can lock, in all.
 */
export class OAuthCredentials implements CredentialSource {
  readonly name: string;
  readonly #options: OAuthCredentialsOptions;
  readonly #authorization: AuthorizationClient;
  readonly #logger: Logger;
  readonly #now: () => number;
  #loading: Promise<void> | undefined;
  #isLoaded = false;
  #headers: CredentialHeaders = NO_HEADERS;
  #proof: ProofKey | undefined;
  #tokens: TokenSet | undefined;
  #loginName: string | undefined;
  /** When the token is renewed before a request. Infinity: it cannot be, or does not end. */
  #renewAt = Infinity;
  readonly #renewal = new SharedRenewal();
  /** What could not be stored: it is stored before anything else is requested, because it replaces what is stored. */
  #unsaved: StoredCredential | undefined;
  /** The token of the last refresh: if it is refused at once, a login may help. */
  #refreshed: string | undefined;
  /** The token of the last login: if it is refused at once, nothing helps. */
  #granted: string | undefined;

  constructor(options: OAuthCredentialsOptions) {
    this.#options = options;
    this.#logger = options.logger ?? SILENT;
    this.#now = options.now ?? Date.now;
    this.#authorization = new AuthorizationClient({ ...options, now: this.#now });
    const { clientId, clientMetadataUrl } = options.settings;
    this.name = JSON.stringify(["oauth", options.owner, clientId ?? clientMetadataUrl]);
  }

  get loginName(): string | undefined {
    return this.#loginName;
  }

  findHeaders(): CredentialHeaders | undefined {
    return this.#isLoaded && !this.#proof && this.#now() < this.#renewAt ? this.#headers : undefined;
  }

  async getHeaders(request: AuthorizedRequest, signal?: CancelSignal): Promise<CredentialHeaders> {
    await unlessAborted(this.#load(), signal);
    if (this.#now() >= this.#renewAt) await this.#renewal.run(() => this.#renewEarly(), signal);
    const [proof, tokens] = [this.#proof, this.#tokens];
    if (!proof || !tokens) return this.#headers;
    return { ...this.#headers, dpop: await proof.sign(request, tokens.accessToken) };
  }

  async renew(refusal: Refusal, signal?: CancelSignal): Promise<boolean> {
    const { status, headers, sent, attempts } = refusal;
    await unlessAborted(this.#load(), signal);
    const hasNewNonce = this.#proof?.rememberNonce(refusal) === true;
    // Another request has renewed the token meanwhile.
    if (sent["authorization"] !== this.#headers["authorization"]) return attempts <= MAX_ATTEMPTS;
    const challenge = await challengeOf(headers);
    if (challenge.error === "use_dpop_nonce") return hasNewNonce && attempts <= MAX_ATTEMPTS;
    if (status === 403 && challenge.error !== "insufficient_scope") return false;
    const refused = this.#tokens?.accessToken;
    const isFutile = status === 401 && attempts > 1 && refused !== undefined && refused === this.#granted;
    if (isFutile || attempts >= MAX_ATTEMPTS) return false;
    // A token that worked before may have ended: only one that is refused from the start needs more than a refresh.
    const skipsRefresh = challenge.error === "insufficient_scope" || (attempts > 1 && this.#wasRefreshed());
    await this.#renewal.run((abandoned) => this.#renewRefused({ refused, challenge, skipsRefresh, abandoned }), signal);
    return true;
  }

  /** A new credential, also if there is a valid one: a person logs in. */
  async login(signal?: CancelSignal): Promise<StoredCredential> {
    const { storage, server } = this.#options;
    const { status, challenge } = await this.#authorization.probe(signal);
    const stored = await storage.load(server);
    const discovery = await this.#authorization.discover({ challenge, stored }, signal);
    if (!challenge && discovery.found === "default-endpoints") throw needsNoLogin(server, status);
    return this.#obtainExclusively({ discovery, challenge, stored }, signal);
  }

  /** Removes the credential, after the authorization server was asked to end it. */
  logout(signal?: CancelSignal): Promise<LogoutResult> {
    // Otherwise a refresh in another process would store the credential again.
    return this.#exclusively(() => this.#revokeAndRemove(signal));
  }

  async #revokeAndRemove(signal: CancelSignal | undefined): Promise<LogoutResult> {
    const { storage, server } = this.#options;
    const stored = await storage.load(server);
    if (!stored) return { removed: await storage.remove(server), revoked: false };
    const answer = await this.#authorization.revoke(stored, signal).catch((error: unknown) => toError(error));
    const removed = await storage.remove(server);
    this.#adopt(undefined);
    return answer instanceof NexusError ? { removed, revoked: false, problem: answer } : { removed, revoked: answer };
  }

  #load(): Promise<void> {
    if (this.#isLoaded) return Promise.resolve();
    return (this.#loading ??= this.#loadStored().finally(() => (this.#loading = undefined)));
  }

  async #loadStored(): Promise<void> {
    const stored = await this.#stored();
    // A login meanwhile is newer than what was read.
    if (!this.#isLoaded) await this.#use(stored);
  }

  async #stored(): Promise<StoredCredential | undefined> {
    const { storage, server, settings } = this.#options;
    return ownCredential(await storage.load(server), settings);
  }

  /** Before the token ends. A failure is serious only when it has ended. */
  async #renewEarly(): Promise<void> {
    // Another renewal may have ended just before this one.
    if (this.#now() < this.#renewAt) return;
    const ending = this.#tokens;
    try {
      await this.#exclusively(async () => {
        const stored = await this.#loadNewer(ending?.accessToken);
        if (stored) await this.#refresh(stored);
        else if (this.#tokens === ending) this.#renewAt = Infinity;
      });
    } catch (error) {
      // The grant has ended. The server refuses the request, and then a new credential is obtained.
      if (this.#tokens !== ending && this.#authorization.canObtain) return;
      if (this.#tokens !== ending || (ending?.expiresAt ?? 0) <= this.#now()) throw this.#explained(error);
      this.#renewAt = this.#now() + POSTPONED_MS;
      this.#logger.warn(`the token for ${this.#options.server} could not be renewed early: ${messageOf(error)}`);
    }
  }

  /** After a refusal: what another process has obtained, else a refresh, else a new credential. */
  async #renewRefused({ refused, challenge, skipsRefresh, abandoned }: RefusedToken): Promise<void> {
    const wanted = await this.#exclusively(async () => {
      const stored = await this.#loadNewer(refused);
      // Undefined with another token in use now: nothing is left to do.
      if (!stored && this.#tokens?.accessToken !== refused) return undefined;
      const hasRefreshToken = !skipsRefresh && stored?.tokens?.refreshToken !== undefined;
      if (!hasRefreshToken && !this.#authorization.canObtain) throw this.#loginRequired(challenge, stored);
      const discovery = await this.#authorization.discover({ challenge, stored });
      const canRefresh = hasRefreshToken && stored.issuer === discovery.authorizationServer.issuer;
      const failed = canRefresh ? await this.#tryRefresh(stored) : this.#loginRequired(challenge, stored);
      if (!failed) return undefined;
      if (!this.#authorization.canObtain) throw failed;
      const request = { discovery, challenge, stored };
      if (this.#authorization.needsPerson) return request;
      await this.#obtain(request);
      return undefined;
    });
    // A person may take minutes, and other processes must not wait that long.
    if (wanted) await this.#obtainExclusively(wanted, abandoned);
  }

  /** What is stored, if it still has this token. Otherwise another process has renewed it, and its token is used. */
  async #loadNewer(token: string | undefined): Promise<StoredCredential | undefined> {
    const stored = await this.#stored();
    const isSame = stored?.tokens?.accessToken === token;
    if (isSame && this.#unsaved) {
      await this.#keep(this.#unsaved);
      return undefined;
    }
    this.#unsaved = undefined;
    if (isSame || !stored?.tokens) return stored;
    await this.#use(stored);
    return undefined;
  }

  /** The error if the refresh token is no longer accepted. */
  async #tryRefresh(stored: StoredCredential): Promise<NexusError | undefined> {
    try {
      await this.#refresh(stored);
      return undefined;
    } catch (error) {
      if (oauthErrorCode(error) === undefined || !(error instanceof NexusError) || isTemporary(error)) throw error;
      this.#logger.info(`the login to ${this.#options.server} has ended: ${messageOf(error)}`);
      return this.#explained(error);
    }
  }

  async #refresh(stored: StoredCredential): Promise<void> {
    const { tokens } = stored;
    if (tokens?.refreshToken === undefined) {
      const discovery = await this.#authorization.discover({ stored });
      await this.#obtain({ discovery, stored });
      return;
    }
    try {
      const renewed = await this.#authorization.refresh(stored, { ...tokens, refreshToken: tokens.refreshToken });
      await this.#keep(renewed);
      this.#refreshed = renewed.tokens?.accessToken;
    } catch (error) {
      if (oauthErrorCode(error) !== "invalid_grant" || !(await this.#isReplaced(tokens))) throw error;
    }
  }

  /** Whether another process has used the refresh token first, where there is no lock. Otherwise the tokens are lost. */
  async #isReplaced({ accessToken }: TokenSet): Promise<boolean> {
    const stored = await this.#loadNewer(accessToken);
    if (!stored) return this.#tokens?.accessToken !== accessToken;
    // The registration stays: the next login can use it.
    await this.#keep({ ...stored, tokens: undefined });
    return false;
  }

  async #obtain(request: CredentialRequest): Promise<void> {
    await this.#keepGranted(await this.#authorization.obtain(request));
  }

  /** For a login by a person: other processes wait only while its result is stored. */
  async #obtainExclusively(request: CredentialRequest, signal?: CancelSignal): Promise<StoredCredential> {
    const credential = await this.#authorization.obtain(request, signal);
    await this.#exclusively(() => this.#keepGranted(credential));
    return credential;
  }

  async #keepGranted(credential: StoredCredential): Promise<void> {
    await this.#keep(credential);
    this.#granted = credential.tokens?.accessToken;
  }

  /** Stored before it is used: the old refresh token may be invalid by now. */
  async #keep(credential: StoredCredential): Promise<void> {
    this.#unsaved = credential;
    await this.#options.storage.save(credential);
    this.#unsaved = undefined;
    await this.#use(credential);
  }

  async #use(credential: StoredCredential | undefined): Promise<void> {
    const isBound = credential?.tokens?.type === "DPoP" && credential.proofKey;
    const proof = isBound ? await ProofKey.import(isBound) : undefined;
    this.#adopt(credential, proof);
  }

  #adopt(credential: StoredCredential | undefined, proof?: ProofKey): void {
    const tokens = credential?.tokens;
    for (const secret of secretsOf(credential)) this.#options.onSecret?.(secret);
    this.#isLoaded = true;
    this.#tokens = tokens;
    this.#loginName = tokens && credential?.loginName;
    this.#proof = proof;
    this.#headers = tokens ? { authorization: `${tokens.type} ${tokens.accessToken}` } : NO_HEADERS;
    this.#renewAt = tokens && this.#canRenew(tokens) ? renewalOf(tokens) : Infinity;
  }

  #canRenew({ refreshToken }: TokenSet): boolean {
    return refreshToken !== undefined || !this.#authorization.needsPerson;
  }

  #wasRefreshed(): boolean {
    return this.#refreshed !== undefined && this.#refreshed === this.#tokens?.accessToken;
  }

  #exclusively<T>(work: () => Promise<T>): Promise<T> {
    const { storage, server } = this.#options;
    return storage.exclusively ? storage.exclusively(server, work) : work();
  }

  #explained<T>(error: T): T | NexusError {
    const code = oauthErrorCode(error);
    if (code === undefined || !(error instanceof NexusError) || !this.#authorization.needsPerson) return error;
    return error.amended({ hint: this.#loginHint([]) });
  }

  #loginRequired(challenge: Challenge, stored: StoredCredential | undefined): NexusError {
    const { error, scopes, resourceMetadata } = challenge;
    const isStepUp = error === "insufficient_scope";
    const [code, message] = isStepUp
      ? (["FORBIDDEN", `The server requires more scopes: ${scopes?.join(", ") ?? "it does not say which"}`] as const)
      : (["AUTH_REQUIRED", "The server requires a login (HTTP 401)"] as const);
    // The new login replaces the old one, so it asks for what that one has as well.
    const hint = this.#loginHint(isStepUp ? [...new Set([...grantedScopes(stored), ...(scopes ?? [])])] : []);
    const mayWantKey = !isStepUp && !stored && resourceMetadata === undefined;
    return new NexusError(code, message, {
      phase: "connect",
      wwwAuthenticate: isStepUp ? undefined : challenge.text,
      status: isStepUp ? 403 : 401,
      hint: mayWantKey ? `${hint} ${API_KEY_HINT}` : hint,
      mayHaveReached: false,
    });
  }

  #loginHint(scopes: readonly string[]): string {
    return this.#options.loginHint?.(scopes) ?? `Log in to ${this.#options.server}, or pass a "login" handler.`;
  }
}

function grantedScopes(stored: StoredCredential | undefined): readonly string[] {
  return scopesIn(stored?.tokens?.scope) ?? stored?.scopes ?? [];
}

/** The authorization server could not decide: the refresh token may still be valid. */
function isTemporary(error: NexusError): boolean {
  const { status = 400 } = error.details;
  return isTemporaryStatus(status) || oauthErrorCode(error) === "temporarily_unavailable";
}

function renewalOf({ expiresAt, obtainedAt }: TokenSet): number {
  if (expiresAt === undefined) return Infinity;
  return expiresAt - Math.min(EARLY_MS, (expiresAt - obtainedAt) / 10);
}

function secretsOf(credential: StoredCredential | undefined): string[] {
  const { tokens, client } = credential ?? {};
  return [tokens?.accessToken, tokens?.refreshToken, client?.clientSecret].filter((secret) => secret !== undefined);
}

function needsNoLogin(server: string, status: number): NexusError {
  // Others are usual answers to a request outside a session.
  const isWrong = status === 404 || status === 405 || status >= 500;
  const [code, message, hint] = isWrong
    ? ([
        "HTTP_STATUS",
        `${server} answered with HTTP ${status} and asks for no login`,
        "Check that the URL is the server's MCP endpoint. If it is, use the server without logging in.",
      ] as const)
    : (["ARGUMENTS_INVALID", `${server} requires no login`, "Use the server without logging in."] as const);
  return new NexusError(code, message, {
    phase: "connect",
    ...(isWrong && { status }),
    hint,
    mayHaveReached: false,
  });
}

function toError(error: unknown): NexusError {
  return error instanceof NexusError ? error : new NexusError("INTERNAL", messageOf(error), { cause: error });
}

interface Running {
  done: Promise<void>;
  abandoned: Cancellation;
  waiting: number;
}

/** Renews a credential once for all requests that need it at the same time. */
export class SharedRenewal {
  #running: Running | undefined;

  /**
   * Waits for the renewal in progress, or starts this one. Its signal is aborted when no request waits for it any more:
   * what needs no person continues then, because its answer contains the next refresh token.
   */
  async run(renew: (abandoned: CancelSignal) => Promise<void>, signal: CancelSignal | undefined): Promise<void> {
    // One that is being abandoned has no result for a new request, and the next one must not run at the same time.
    while (this.#running?.abandoned.aborted) await unlessAborted(settled(this.#running.done), signal);
    const running = (this.#running ??= this.#start(renew));
    running.waiting++;
    try {
      await unlessAborted(running.done, signal);
    } finally {
      if (--running.waiting === 0) running.abandoned.abort(new NexusError("CANCELLED", "The call was cancelled"));
    }
  }

  #start(renew: (abandoned: CancelSignal) => Promise<void>): Running {
    const abandoned = new Cancellation();
    const done = renew(abandoned).finally(() => (this.#running = undefined));
    // Its failure is that of the requests that wait for it, if any still does.
    done.catch(() => {});
    return { done, abandoned, waiting: 0 };
  }
}

function settled(promise: Promise<void>): Promise<void> {
  return promise.catch(() => {});
}
