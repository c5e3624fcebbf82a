/** The client alone, for browsers, workers and other runtimes: over HTTP with `fetch`, without anything of Node. */
export { connect, type WebConnectOptions, type WebServerEntry } from "./connect-web.ts";
export type { Fetch } from "../../net/fetch-network.ts";
export { Client, type CallToolOptions } from "../client.ts";
export type { ClientOptions } from "../client-settings.ts";
export type { CallInfo, CallOptions } from "../conversation/call-scope.ts";
export type { InputContext, InputProvider } from "../conversation/input.ts";
export type { KnownLists } from "../conversation/lists.ts";
export type { NotificationListener } from "../conversation/inbox.ts";
export { MemoryCache, type CachedAnswer, type CacheStore } from "../conversation/response-cache.ts";
export type { RetrySettings } from "../conversation/retry.ts";
export type { Change, ChangeListener, Feed } from "../changes/feed.ts";
export type { Subscription } from "../changes/subscriptions.ts";
export type { Skill, SkillEntry, Skills } from "../skills.ts";
export type { Started, Task, TaskOptions, Tasks, TaskStatus } from "../tasks.ts";
export type { Logger } from "../../text/logger.ts";
export { NexusError, type ErrorCode, type ErrorDetails, type ErrorPhase } from "../../errors/nexus-error.ts";
export type * from "../../protocol/json-rpc.ts";
export type * from "../../protocol/mcp.ts";
export type { Interests } from "../../protocol/interests.ts";
export type { ChangingList } from "../../protocol/list-kinds.ts";
export type { Era, LegacyRevision, ModernRevision, Revision } from "../../protocol/revisions.ts";
export { MemoryTransport, type MemoryPeer } from "../../transport/memory.ts";
export type {
  AuthorizedRequest,
  CredentialHeaders,
  CredentialSource,
  Refusal,
} from "../../transport/credential-source.ts";
export type { CloseReason, Connection, Receiver, Sending, Transport } from "../../transport/transport.ts";
export type { LoginHandler, LoginRedirect, RedirectSettings } from "../../auth/oauth/login-handler.ts";
export type { OAuthOptions } from "../../auth/oauth/oauth-options.ts";
export type { OAuthSettings } from "../../auth/oauth/oauth-settings.ts";
export {
  MemoryCredentials,
  type CredentialStorage,
  type StoredCredential,
} from "../../auth/oauth/stored-credential.ts";
