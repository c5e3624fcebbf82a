import { callsOthers, calledWith } from "../../host/directory/access-target.ts";
import type { HostTool } from "../../host/visible-lists.ts";
import { canonicalJson } from "../../json/canonical-json.ts";
import { sha256 } from "../../text/digest.ts";
import type { WantedCall } from "../consent/tool-consent.ts";

/** Hash of a tool's definition as it is listed. */
export function definitionHash({ tool }: HostTool): string {
  return sha256(canonicalJson(tool));
}

/**
 * The call that consent is asked for. If a tool of a server of others says that it calls another one, the annotations and the
 * hash are still those of the tool itself, because nothing proves what it does.
 */
export function wantedCall(found: HostTool, args: unknown): WantedCall {
  const { server, tool } = found;
  const { annotations = {} } = tool;
  const { calls } = calledWith({ kind: "tool", server, name: tool.name, ...callsOthers(tool) }, args);
  const call = { server, tool: tool.name, arguments: args, annotations, definitionHash: definitionHash(found) };
  return calls === undefined ? call : { ...call, calls };
}
