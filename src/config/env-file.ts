import { parseEnv } from "node:util";
import { messageOf } from "../errors/nexus-error.ts";
import { absolutePath } from "./absolute-path.ts";
import type { Fault } from "./fault.ts";
import { loadText } from "./read-source.ts";
import { findMember, type SourceNode } from "./source-node.ts";

interface EnvFile {
  env?: Record<string, string>;
  fault?: Fault;
}

/** The variables of an entry's `envFile`: lines of NAME=value. They are taken as they are, nothing in them is filled in. */
export async function loadEnvFile(node: SourceNode, paths: { home: string; base: string }): Promise<EnvFile> {
  const member = findMember(node, "envFile");
  if (!member || member.node.kind !== "scalar" || member.node.value === null) return {};
  const { value, place } = member.node;
  if (typeof value !== "string") return { fault: { place, what: `"envFile" is no path`, hint: `Write ".env".` } };
  const path = absolutePath(value, paths);
  const hint = `Write the file, with lines of NAME=value, or delete "envFile".`;
  try {
    const text = await loadText(path, { called: `The "envFile" ${path}` });
    if (text === undefined) return { fault: { place, what: `there is no "envFile" ${path}`, hint } };
    return { env: Object.fromEntries(Object.entries(parseEnv(text)).map(([name, text]) => [name, text ?? ""])) };
  } catch (error) {
    return { fault: { place, what: messageOf(error), hint } };
  }
}
