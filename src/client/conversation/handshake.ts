import { asText } from "../../text/as-text.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { isRecord } from "../../json/is-record.ts";
import type { RequestId, Result } from "../../protocol/json-rpc.ts";
import { legacyHeaders } from "../../protocol/legacy.ts";
import type { ClientCapabilities, Implementation, ServerCapabilities } from "../../protocol/mcp.ts";
import { HEADER_MISMATCH, META, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_VERSION } from "../../protocol/meta.ts";
import { modernHeaders, modernMeta } from "../../protocol/modern.ts";
import {
  isLegacyRevision,
  LATEST,
  LEGACY_REVISIONS,
  MODERN_REVISIONS,
  newestCommon,
  type Era,
  type LegacyRevision,
} from "../../protocol/revisions.ts";
import { CallScope } from "./call-scope.ts";
import type { Deadlines } from "../../async/deadlines.ts";
import type { Peer } from "./peer.ts";

/** What client and server have negotiated. */
export interface Agreement {
  era: Era;
  version: string;
  serverInfo?: Implementation | undefined;
  /** Undefined if the server was not asked. */
  capabilities?: ServerCapabilities | undefined;
  instructions?: string | undefined;
  sessionId?: string | undefined;
}

/** What the handshake sends, and its timeout. */
export interface Introduction {
  clientInfo: Implementation;
  capabilities: (era: Era) => ClientCapabilities;
  /** The deadline of connecting, on the clock of `performance.now`. */
  deadline: number;
  signal: AbortSignal | undefined;
  deadlines: Deadlines;
  /** Called with the method of each request, for the report of a failed handshake. */
  onSent?: (method: string) => void;
}

/** What the answer to `server/discover` says about the server. */
export type Discovery =
  | { kind: "modern"; agreement: Agreement }
  /** It uses modern error codes, but all revisions that both support are legacy. */
  | { kind: "legacy-only"; version: LegacyRevision }
  | { kind: "not-modern"; error: NexusError }
  /** The answer says nothing about the era: report the error, do not fall back. */
  | { kind: "no-evidence"; error: NexusError };

/** Sends `server/discover`. Never rejects. */
export async function discover(peer: Peer, introduction: Introduction, id: string): Promise<Discovery> {
  const first = await discoverOnce(peer, introduction, id);
  if (first.kind !== "ask-again") return first;
  const second = await discoverOnce(peer, introduction, `${id}-again`);
  return second.kind === "ask-again" ? { kind: "no-evidence", error: second.error } : second;
}

async function discoverOnce(peer: Peer, introduction: Introduction, id: RequestId): Promise<Discovery | AskAgain> {
  try {
    return judgeResult(await modernRequest(peer, introduction, { id, method: "server/discover" }));
  } catch (error) {
    if (!(error instanceof NexusError)) throw error;
    return judgeError(error);
  }
}

/** The server rejects a version that it lists as supported in the same answer. */
interface AskAgain {
  kind: "ask-again";
  error: NexusError;
}

/** The last attempt: some modern servers do not have `server/discover`. */
export async function listsToolsTheModernWay(peer: Peer, introduction: Introduction): Promise<Agreement | undefined> {
  try {
    const result = await modernRequest(peer, introduction, { id: "nexus-probe-list", method: "tools/list" });
    return Array.isArray(result["tools"])
      ? { era: "modern", version: LATEST, serverInfo: serverInfoIn(result) }
      : undefined;
  } catch {
    return undefined;
  }
}

/** Opens a legacy session. If the server names another version, tries once more with it. */
export async function initialize(
  peer: Peer,
  introduction: Introduction,
  version: LegacyRevision = LEGACY_REVISIONS[0],
): Promise<Agreement> {
  try {
    return await initializeOnce(peer, introduction, version);
  } catch (error) {
    const other = error instanceof NexusError ? supportedIn(error) : undefined;
    const common = other && newestCommon(LEGACY_REVISIONS, other);
    if (!common || common === version) throw error;
    return initializeOnce(peer, introduction, common);
  }
}

async function initializeOnce(peer: Peer, introduction: Introduction, version: LegacyRevision): Promise<Agreement> {
  let sessionId: string | undefined;
  const { clientInfo, capabilities, onSent } = introduction;
  onSent?.("initialize");
  const params = { protocolVersion: version, capabilities: capabilities("legacy"), clientInfo };
  const result = await withScope(introduction, "initialize", (scope) =>
    peer.exchange(
      {
        id: peer.reserveId(),
        method: "initialize",
        params,
        onHead: (headers) => {
          const value = headers["mcp-session-id"];
          if (typeof value === "string") sessionId = value;
        },
        // The specification: `initialize` MUST NOT be cancelled. In this era, leaving the stream does not cancel it.
        cancelBy: "stream",
      },
      scope,
    ),
  );
  const answered = result["protocolVersion"];
  if (!isLegacyRevision(answered)) {
    throw new NexusError(
      "VERSION_UNSUPPORTED",
      `The server requested protocol version ${asText(answered)}, which Nexus does not support`,
      {
        phase: "handshake",
        hint: `Supported versions: ${[...MODERN_REVISIONS, ...LEGACY_REVISIONS].join(", ")}.`,
        raw: result,
      },
    );
  }
  const headers = legacyHeaders(answered, sessionId);
  await withScope(introduction, "notifications/initialized", (scope) => {
    return peer.notify("notifications/initialized", undefined, { headers, scope });
  });
  peer.standingHeaders = headers;
  return { era: "legacy", version: answered, ...introductionOf(result), sessionId };
}

async function modernRequest(
  peer: Peer,
  introduction: Introduction,
  { id, method }: { id: RequestId; method: string },
): Promise<Result> {
  const { clientInfo, capabilities, onSent } = introduction;
  onSent?.(method);
  const params = { _meta: modernMeta({ version: LATEST, clientInfo, capabilities: capabilities("modern") }) };
  const headers = peer.kind === "http" ? modernHeaders(LATEST, method, params) : undefined;
  return withScope(introduction, method, (scope) =>
    peer.exchange({ id, method, params, headers, cancelBy: "stream" }, scope),
  );
}

/** Runs a part of connecting with the deadline and signal of the whole. */
export async function withScope<T>(
  { deadline, signal, deadlines }: Introduction,
  method: string,
  run: (scope: CallScope) => Promise<T>,
): Promise<T> {
  const timeoutMs = Math.max(1, deadline - performance.now());
  const scope = new CallScope({ method }, { signal }, { deadlines, timeoutMs });
  try {
    return await run(scope);
  } finally {
    scope.finish();
  }
}

function judgeResult(result: Result): Discovery {
  const supported = result["supportedVersions"];
  if (!Array.isArray(supported) || !isRecord(result["capabilities"])) {
    return {
      kind: "not-modern",
      error: new NexusError("PROTOCOL_VIOLATION", "The answer to server/discover is not a valid result", {
        raw: result,
      }),
    };
  }
  return judgeVersions(supported, result);
}

function judgeVersions(supported: readonly unknown[], result: Result): Discovery {
  const modern = newestCommon(MODERN_REVISIONS, supported);
  if (modern) return { kind: "modern", agreement: { era: "modern", version: modern, ...introductionOf(result) } };
  return judgeWithoutModern(supported);
}

function judgeWithoutModern(supported: readonly unknown[]): Discovery {
  const legacy = newestCommon(LEGACY_REVISIONS, supported);
  if (legacy) return { kind: "legacy-only", version: legacy };
  const ours = [...MODERN_REVISIONS, ...LEGACY_REVISIONS].join(", ");
  return {
    kind: "no-evidence",
    error: new NexusError(
      "VERSION_UNSUPPORTED",
      `The server supports ${supported.join(", ")}; this client supports ${ours}`,
      {
        phase: "handshake",
        hint: "Update Nexus or the server.",
      },
    ),
  };
}

/** Statuses that say nothing about the era, independent of their body. */
const SILENT_STATUS = new Set([401, 403, 407, 408, 425, 429]);

function judgeError(error: NexusError): Discovery | AskAgain {
  const { status, rpc } = error.details;
  const isSilent =
    status !== undefined && (SILENT_STATUS.has(status) || status >= 500 || (status >= 300 && status < 400));
  if (isSilent) return { kind: "no-evidence", error };
  if (error.code !== "SERVER_ERROR" && error.code !== "HTTP_STATUS") return { kind: "no-evidence", error };
  const supported = rpc?.code === UNSUPPORTED_VERSION ? supportedIn(error) : undefined;
  if (supported)
    return newestCommon(MODERN_REVISIONS, supported) ? { kind: "ask-again", error } : judgeWithoutModern(supported);
  const isModernError = rpc?.code === HEADER_MISMATCH || rpc?.code === MISSING_CLIENT_CAPABILITY;
  if (isModernError && (status === undefined || status === 400)) {
    return { kind: "modern", agreement: { era: "modern", version: LATEST } };
  }
  return { kind: "not-modern", error };
}

function supportedIn({ details: { rpc } }: NexusError): readonly unknown[] | undefined {
  const supported = isRecord(rpc?.data) ? rpc.data["supported"] : undefined;
  return Array.isArray(supported) ? supported : undefined;
}

function introductionOf(result: Result): Pick<Agreement, "serverInfo" | "capabilities" | "instructions"> {
  const { capabilities, instructions } = result;
  return {
    serverInfo: serverInfoIn(result),
    capabilities: isRecord(capabilities) ? capabilities : {},
    instructions: typeof instructions === "string" ? instructions : undefined,
  };
}

function serverInfoIn(result: Result): Implementation | undefined {
  const info = result["serverInfo"] ?? result._meta?.[META.serverInfo];
  return isRecord(info) ? (info as Implementation) : undefined;
}
