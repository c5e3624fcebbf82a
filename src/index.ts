import { Client } from "./client/client.ts";
import { clientOptionsOf } from "./client/client-settings.ts";
import { checkCapabilities } from "./client/conversation/input.ts";
import { checkOptions, wrongOption } from "./errors/check-options.ts";
import { CONNECT_OPTIONS, connectEntry, type ConnectOptions } from "./client/connect/connect-entry.ts";
import { maskUrl } from "./masking/mask-words.ts";
import { SILENT } from "./text/logger.ts";
import { openApi } from "./compose/open-api.ts";
import { readEnvironment } from "./environment.ts";
import { Host as RunningHost } from "./host/host.ts";
import { trustFor } from "./host/servers/load-options.ts";
import { checkHostOptions, type HostOptions } from "./host/host-options.ts";
import { allNames, HOST_ENTRY } from "./transport/entry-form.ts";
import { resolveEntry, type ServerEntry } from "./transport/server-entry.ts";
import { isTransport, type Transport } from "./transport/transport.ts";
import { userFolders } from "./files/user-folders.ts";

export type { KnownLists } from "./client/conversation/lists.ts";
export type { ChangingList } from "./protocol/list-kinds.ts";
export type { NotificationListener } from "./client/conversation/inbox.ts";
export { MemoryCache, type CachedAnswer, type CacheStore } from "./client/conversation/response-cache.ts";
export type { Skill, SkillEntry, Skills } from "./client/skills.ts";
export type { Interests } from "./protocol/interests.ts";
export type { Change, ChangeListener, Feed } from "./client/changes/feed.ts";
export type { Subscription } from "./client/changes/subscriptions.ts";
export type { Started, Task, TaskOptions, Tasks, TaskStatus } from "./client/tasks.ts";
export { Client, type CallToolOptions } from "./client/client.ts";
export type { ClientOptions } from "./client/client-settings.ts";
export type { CallInfo, CallOptions } from "./client/conversation/call-scope.ts";
export type { CancelSignal } from "./async/cancellation.ts";
export type { InputContext, InputProvider } from "./client/conversation/input.ts";
export type { Logger } from "./text/logger.ts";
export type { Verdict } from "./client/conversation/negotiate.ts";
export type { RetrySettings } from "./client/conversation/retry.ts";
export { checkArguments, checkResult } from "./client/schema-check.ts";
export type { SchemaProblem } from "./schema/explain.ts";
export type { SchemaCheck } from "./schema/validator.ts";
export {
  NexusError,
  type ErrorCode,
  type ErrorDetails,
  type ErrorPhase,
  type ErrorSource,
  type OpenQuestion,
  type RpcErrorBody,
} from "./errors/nexus-error.ts";
export type * from "./protocol/json-rpc.ts";
export type * from "./protocol/mcp.ts";
export type { Era, LegacyRevision, ModernRevision, Revision } from "./protocol/revisions.ts";
export { MemoryTransport, type MemoryPeer } from "./transport/memory.ts";
export type { EntryIdentityProvider, HostSettings, OAuthGrant, OAuthMembers } from "./transport/entry-form.ts";
export type { EntryOAuth, ServerEntry, WrittenOAuth } from "./transport/server-entry.ts";
export type { AuthorizedRequest, CredentialHeaders, CredentialSource, Refusal } from "./transport/credential-source.ts";
export type { DeviceCode, LoginHandler, LoginRedirect, RedirectSettings } from "./auth/oauth/login-handler.ts";
export type { OAuthOptions } from "./auth/oauth/oauth-options.ts";
export type { IdentityProvider, OAuthSettings } from "./auth/oauth/oauth-settings.ts";
export {
  MemoryCredentials,
  type ClientAuthentication,
  type CredentialStorage,
  type RegisteredClient,
  type StoredCredential,
  type TokenSet,
} from "./auth/oauth/stored-credential.ts";
export type {
  ChildView,
  CloseReason,
  Connection,
  Delivery,
  Discarded,
  HttpSessionChannel,
  Receiver,
  ResumePoint,
  Sending,
  StreamEnd,
  Transport,
} from "./transport/transport.ts";
export type { ConnectOptions, NetworkTrust } from "./client/connect/connect-entry.ts";
export type { PublicOnly } from "./net/public-only.ts";
export type { Layer, Origin, ServerDefinition } from "./config/read/server-definition.ts";
export { ProcessBudget, type ProcessBudgetOptions, type ProcessUsage } from "./process/process-budget.ts";
export type { ProcessLimits } from "./process/process-limits.ts";
export type { BackoffSettings } from "./async/backoff.ts";
export type { EraCache } from "./host/servers/era-cache.ts";
export type {
  DefinitionChange,
  DefinitionLedger,
  NamedDefinition,
  ReadList,
  Standing,
} from "./host/definitions/definition-ledger.ts";
export type { ReceivedDefinition } from "./host/definitions/listed-definitions.ts";
export { MemoryLedger } from "./host/definitions/memory-ledger.ts";
export type { AccessTarget, RequestTarget } from "./host/directory/access-target.ts";
export type { ServerStatus } from "./host/host.ts";
export type { ForAgent, HostTool, OfferedThings } from "./host/visible-lists.ts";
export type { HostEntry, HostOptions, HostServers } from "./host/host-options.ts";
export type { ApiSurroundings, OpenApi } from "./host/servers/server-connector.ts";
export type { ApiReach } from "./transport/server-entry.ts";
export type { Lease, LeaseRequest } from "./host/servers/lease.ts";
export type {
  ConsentRequest,
  Decision,
  Policy,
  PolicySettings,
  EntryRules,
  ToolRules,
  WantedUse,
} from "./host/directory/policy.ts";
export {
  agentTools,
  contextBlocks,
  promptCommands,
  type AgentTool,
  type AgentToolsOptions,
  type ContextBlock,
  type ContextOptions,
  type ExecuteOptions,
  type PromptCommand,
} from "./host/registry.ts";
export { aiSdkTools, type AiSdkOutput, type AiSdkPart, type AiSdkTool } from "./host/ai-sdk-tools.ts";
export type { ServerState } from "./host/servers/server-state.ts";
export type { HostEvent } from "./host/servers/server-supervisors.ts";

/** Connects to one server: an entry as in a configuration file, or a transport. */
export async function connect(server: ServerEntry | Transport, options: ConnectOptions = {}): Promise<Client> {
  checkOptions("connect", options, CONNECT_OPTIONS, { timeout: "timeoutMs" });
  if (options.input) checkCapabilities(options.input);
  if (isTransport(server)) return Client.open(server, clientOptionsOf(options));
  checkMembers(server);
  const entry = resolveEntry(server);
  const surroundings = readEnvironment();
  const { logger = SILENT } = options;
  return connectEntry(entry, surroundings, {
    openApi: (reach, network) => {
      const { state: stateFolder } = userFolders(surroundings);
      const trust = trustFor({ surroundings, stateFolder, trust: options.trust });
      return openApi(reach, { surroundings, stateFolder, logger, server: server.id, trust, ...network });
    },
    ...options,
  });
}

/** An entry of a file may have keys that only a host uses. What is not an object, or names no server, is told apart later. */
function checkMembers(entry: ServerEntry): void {
  if (typeof entry === "string") {
    const way = URL.canParse(entry) ? `url: ${JSON.stringify(maskUrl(entry))}` : `command: "…", args: ["…"]`;
    throw wrongOption("The server of connect is a text", `Pass an object: connect({ ${way} }).`);
  }
  if (typeof entry !== "object" || entry === null || Array.isArray(entry)) return;
  const names = Object.fromEntries(allNames(HOST_ENTRY).map((name) => [name, true]));
  checkOptions<Record<string, unknown>>("a server's entry", { ...entry }, names);
}

/** Many servers as one set; keeps them running. */
export type Host = RunningHost;
export const Host = {
  /** Resolves after the configuration is read; `ready()` waits for the servers. */
  open: async (options: HostOptions = {}): Promise<Host> => {
    // Before it is copied: a text has members of its own.
    checkHostOptions(options);
    return RunningHost.start({ openApi, ...options }, readEnvironment());
  },
};
