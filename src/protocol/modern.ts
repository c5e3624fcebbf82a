import { encodeHeaderValue } from "./header-value.ts";
import type { Params } from "./json-rpc.ts";
import type { ClientCapabilities, Implementation, LogLevel } from "./mcp.ts";
import { META } from "./meta.ts";
import { namedMember } from "./methods.ts";
import { paramHeaderValues, type ParamHeader } from "./param-headers.ts";

/** What a modern request says about its sender; nothing is remembered between requests. */
interface ModernSender {
  version: string;
  clientInfo: Implementation;
  capabilities: ClientCapabilities;
  logLevel?: LogLevel | undefined;
}

/** The `_meta` of every request of this sender. */
export function modernMeta({ version, clientInfo, capabilities, logLevel }: ModernSender): Record<string, unknown> {
  const meta: Record<string, unknown> = {
    [META.protocolVersion]: version,
    [META.clientInfo]: clientInfo,
    [META.clientCapabilities]: capabilities,
  };
  if (logLevel) meta[META.logLevel] = logLevel;
  return meta;
}

/** The headers of a modern POST: they repeat the body, so that proxies can route without reading it. */
export function modernHeaders(
  version: string,
  method: string,
  params: Params | undefined,
  paramHeaders: readonly ParamHeader[] = [],
): Record<string, string> {
  const headers: Record<string, string> = { "mcp-protocol-version": version, "mcp-method": method };
  const member = namedMember(method);
  const name = member === undefined ? undefined : params?.[member];
  if (typeof name === "string") headers["mcp-name"] = encodeHeaderValue(name);
  if (paramHeaders.length > 0) Object.assign(headers, paramHeaderValues(paramHeaders, params?.["arguments"]));
  return headers;
}

/**
 * How long servers of this package accept a request state, and how long the command line keeps its parked call. One
 * constant, so that both are the same.
 */
export const REQUEST_STATE_HOURS = 24;
