import type { IncomingHttpHeaders } from "node:http";
import { asText } from "../../text/as-text.ts";
import { isRecord } from "../../json/is-record.ts";
import type { Message, Request } from "../../protocol/json-rpc.ts";
import { namedMember } from "../../protocol/methods.ts";
import { decodeHeaderValue } from "../../protocol/header-value.ts";
import type { ParamHeader } from "../../protocol/param-headers.ts";

/** Whether a client takes such an answer; one that says nothing takes any. */
export function accepts(accept: string | undefined, type: string): boolean {
  if (accept === undefined || accept.includes(type) || accept.includes("*/*")) return true;
  // Types are the same in any case, and nearly always written in lower.
  return accept.toLowerCase().includes(type);
}

/** Why the version header and the body do not go together. */
export function versionMismatch(headers: IncomingHttpHeaders, claimed: unknown): string | undefined {
  const given = headers["mcp-protocol-version"];
  if (given === undefined) return "The header MCP-Protocol-Version is missing";
  return given === claimed ? undefined : differs("MCP-Protocol-Version", given, claimed);
}

/** The same for `Mcp-Method` and `Mcp-Name`. */
export function targetMismatch(headers: IncomingHttpHeaders, { method, params = {} }: Request): string | undefined {
  const given = headers["mcp-method"];
  if (given === undefined) return "The header Mcp-Method is missing";
  if (given !== method) return differs("Mcp-Method", given, method);
  const member = namedMember(method);
  return member === undefined ? undefined : mismatch(headers, "Mcp-Name", params[member], "string");
}

/**
 * The same for what is posted in a session of an older revision. Its clients do not send `Mcp-Method` and `Mcp-Name`; what is sent
 * may have decided at a proxy, so it has to be true of every message.
 */
export function legacyMismatch(headers: IncomingHttpHeaders, messages: readonly Message[]): string | undefined {
  const given = headers["mcp-method"];
  const name = headers["mcp-name"];
  if (given === undefined && name === undefined) return undefined;
  for (const message of messages) {
    const { method, params = {} } = "method" in message ? message : { method: undefined };
    if (given !== undefined && given !== method) return differs("Mcp-Method", given, method);
    const member = method === undefined ? undefined : namedMember(method);
    const problem =
      name === undefined || member === undefined ? undefined : mismatch(headers, "Mcp-Name", params[member], "string");
    if (problem) return problem;
  }
  return undefined;
}

/** The same for every `Mcp-Param-*` that the tool asks for. */
export function paramMismatch(
  headers: IncomingHttpHeaders,
  wanted: readonly ParamHeader[],
  args: unknown,
): string | undefined {
  for (const { header, path, type } of wanted) {
    let value = args;
    for (const step of path) value = isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined;
    const problem = mismatch(headers, header, value, type);
    if (problem) return problem;
  }
  return undefined;
}

/** A value that is null or absent sends no header, and a header without a value claims what is not there. */
function mismatch(
  headers: IncomingHttpHeaders,
  name: string,
  value: unknown,
  type: ParamHeader["type"],
): string | undefined {
  const given = headers[name.toLowerCase()];
  const isAbsent = value === undefined || value === null;
  if (typeof given !== "string") return isAbsent ? undefined : `The header ${name} is missing`;
  const decoded = given === value ? given : decodeHeaderValue(given);
  if (decoded === undefined) return `The header ${name} is not valid Base64`;
  return decoded === value || (!isAbsent && isSame(decoded, value, type)) ? undefined : differs(name, decoded, value);
}

/** `1` and `1.0` are the same integer. */
function isSame(given: string, value: unknown, type: ParamHeader["type"]): boolean {
  if (type === "integer" && typeof value === "number") return given.trim() !== "" && Number(given) === value;
  return given === asText(value);
}

function differs(header: string, given: string | string[], value: unknown): string {
  const said = value === undefined ? "has none" : `says ${JSON.stringify(value)}`;
  return `The header ${header} does not match the body: the header says ${JSON.stringify(given)}, the body ${said}`;
}
