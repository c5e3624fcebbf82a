import { problemSentence } from "../format/problem.ts";
import { readTree } from "../format/read-form.ts";
import { findMember, type SourceNode } from "../source/source-node.ts";
import { parseByteSize } from "../text/byte-size.ts";
import { HOST_SETTINGS } from "../transport/entry-form.ts";
import type { Section } from "./read/find-servers.ts";
import type { Fault } from "./read/problem.ts";
import type { ServerDefinition, ServerSettings } from "./read/server-definition.ts";

/** The settings of a server that do not concern how it is reached, and the first mistake: its setting has the default. */
export function readServerSettings(
  node: SourceNode,
  section: Section,
): { settings: ServerSettings; fault: Fault | undefined } {
  const isObject = node.kind === "object";
  const { value, problems } = readTree(
    HOST_SETTINGS,
    isObject ? node : { kind: "object", place: node.place, members: [] },
    {
      nullIsAbsent: true,
      isJson: true,
    },
  );
  const isWrong = (path: string) =>
    problems.some((problem) => problem.path === path || problem.path.startsWith(`${path}[`));
  const { enabled = true, disabled = false, auto_start: autoStart = section.autoStart, max_memory: memory } = value;
  const { max_processes: processes } = value;
  const memoryBytes = memory === undefined ? undefined : parseByteSize(memory);
  const settings: ServerSettings = {
    name: value.name,
    enabled: section.enabled && enabled && !disabled,
    autoStart,
    failIfNoTools: value.fail_if_no_tools ?? false,
    // An invalid list must not allow what it was meant to deny.
    tools: isWrong("tools.allow") ? { ...value.tools, allow: [] } : (value.tools ?? {}),
    // Nor share what it was meant to hide.
    ...(isWrong("agents") ? { agents: [] } : value.agents && { agents: value.agents }),
    ...pinned(isWrong("pin") || value.pin),
    isolation: value.isolation ?? "owner",
    ...(value.prefix !== undefined && !isWrong("prefix") && { prefix: value.prefix }),
    ...((processes ?? memoryBytes) !== undefined && {
      limits: { ...(processes && { processes }), ...(memoryBytes && { memoryBytes }) },
    }),
  };
  const [first] = problems;
  const fault = first && {
    what: problemSentence(first.path, first.message),
    hint: first.hint,
    place: placeOf(node, first.path) ?? first,
  };
  return { settings, fault };
}

function pinned(pin: boolean | readonly string[] | undefined): Pick<ServerDefinition, "pin"> {
  if (pin === undefined || pin === false) return {};
  return pin === true || pin.length > 0 ? { pin } : {};
}

/** The place of the key. */
function placeOf(node: SourceNode, path: string) {
  const [key = "", inner] = path.split(/[.[]/);
  const member = findMember(node, key);
  return (inner === undefined ? undefined : findMember(member?.node, inner)?.place) ?? member?.place;
}
