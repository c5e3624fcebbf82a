import { splitShellWords } from "../../text/shell-words.ts";
import { CLIENTS } from "./clients.ts";
import type { ImportPlace } from "./import-places.ts";
import { allAt, nodeOf, type Member, type SourceNode } from "../../source/source-node.ts";

/** An entry of another program, with its differences converted to the meaning in Nexus. */
export function inOwnDialect(node: SourceNode, client: ImportPlace["client"]): SourceNode {
  const dialect = client === "file" ? {} : (CLIENTS[client].dialect ?? {});
  const { variables, countsSeconds, hasCommandLines, renamed = {}, dropped = [] } = dialect;
  const written = variables ? withTexts(node, (text) => text.replaceAll(variables, "${$1}")) : node;
  if (written.kind !== "object") return written;
  const splits = hasCommandLines && !written.members.some(({ key }) => key === "args");
  const members = written.members
    .filter(({ key }) => !dropped.includes(key))
    .map((member): Member => {
      const key = (Object.hasOwn(renamed, member.key) ? renamed[member.key] : undefined) ?? member.key;
      if (key === "timeout" && countsSeconds) return inMilliseconds(member);
      return key === "command" && splits ? inWords(member) : { ...member, key };
    });
  return { ...written, members };
}

/** A command line, as a list of its words. */
function inWords(member: Member): Member {
  const { node } = member;
  if (node.kind !== "scalar" || typeof node.value !== "string" || !/\s/.test(node.value.trim())) return member;
  const { words } = splitShellWords(node.value, process.platform);
  return { ...member, node: nodeOf(words, allAt(node.place)) };
}

function inMilliseconds(member: Member): Member {
  const { node } = member;
  if (node.kind !== "scalar" || typeof node.value !== "number") return member;
  return { ...member, node: nodeOf(node.value * 1_000, allAt(node.place)) };
}

function withTexts(node: SourceNode, change: (text: string) => string): SourceNode {
  if (node.kind === "list") return { ...node, items: node.items.map((item) => withTexts(item, change)) };
  if (node.kind === "object") {
    return { ...node, members: node.members.map((member) => ({ ...member, node: withTexts(member.node, change) })) };
  }
  return typeof node.value === "string" ? { ...node, value: change(node.value) } : node;
}
