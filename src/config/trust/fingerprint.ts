import { dirname, relative } from "node:path";
import { isInside, realPath, toAbsolutePath } from "../../files/paths.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { understand } from "../read/dialect.ts";
import { loadEnvFile } from "../read/env-file.ts";
import type { FoundServers } from "../read/find-servers.ts";
import type { Candidate, ConfigContext } from "../read/places.ts";
import { lockPath } from "../read/lock-path.ts";
import { loadText } from "../read/read-source.ts";
import { findMember, plainValue, type SourceNode } from "../../source/source-node.ts";
import { fingerprintOf } from "./trust-store.ts";
import { VariableFiller } from "../read/variables.ts";

/** All of it is read before the project is trusted. */
const MAX_TOTAL_LENGTH = 16 * 1024 * 1024;
const MAX_FILES = 1_000;

type ProjectPlace = Pick<Candidate, "file" | "folder">;

/**
 * What is trusted of a file: its servers as interpreted, because place and spelling can change the meaning; defaults of
 * inputs, which may become part of a command; and the content of project files that are read for its servers.
 */
export async function fingerprintOfFile(
  found: FoundServers,
  place: ProjectPlace,
  surroundings: ConfigContext,
): Promise<string> {
  return (await trustedContent(found, place, surroundings)).fingerprint;
}

/** A file of the project to which its servers refer. */
export interface ProjectText {
  /** Relative to the project's folder. */
  path: string;
  /** Null if there is none. */
  text: string | null;
  /** Lines of NAME=value for a server's environment. */
  isEnvironment: boolean;
}

/** The same with the files that it covers, for the user who decides about trust. */
export async function trustedContent(
  found: FoundServers,
  place: ProjectPlace,
  surroundings: ConfigContext,
): Promise<{ fingerprint: string; files: ProjectText[] }> {
  const meant = found.servers.map(({ name, node, section: { dialect, enabled, autoStart } }) => {
    const understood = understand(node, dialect);
    return [name, plainValue(understood.node), understood.extra, { dialect, enabled, autoStart }];
  });
  const environments = new Set<string>();
  const texts = await filesReadBy(found, { ...place, environments }, surroundings);
  const files = [...texts].map(([path, text]) => ({ path, text, isEnvironment: environments.has(path) }));
  const fingerprint = fingerprintOf(texts.size === 0 ? [meant, found.inputs] : [meant, found.inputs, [...texts]]);
  return { fingerprint, files };
}

/** Files of the project to which its entries refer, with their text; null if there is none. */
async function filesReadBy(
  { servers, inputs }: FoundServers,
  { file, folder, environments }: ProjectPlace & { environments: Set<string> },
  { home, platform, variables }: ConfigContext,
): Promise<Map<string, string | null>> {
  const texts = new Map<string, string | null>();
  const project = realPath(folder);
  let length = 0;
  const read = async (path: string): Promise<string | undefined> => {
    const isOwn = isInside(path, folder) || isInside(realPath(path), project);
    if (!isOwn) return undefined;
    const name = relative(folder, path);
    const known = texts.get(name);
    if (known !== undefined) return known ?? undefined;
    // No reader of these files accepts more, so nothing is used that was not part of the fingerprint.
    const text = await loadText(path, { maxBytes: MAX_TOTAL_LENGTH }).catch(() => undefined);
    texts.set(name, text ?? null);
    length += text?.length ?? 0;
    if (length > MAX_TOTAL_LENGTH || texts.size > MAX_FILES) throw tooMuch(file);
    return text;
  };
  const sources = { variables, platform, folders: { workspaceFolder: folder, userHome: home }, inputs };
  for (const { name = "", node, section } of servers) {
    const filler = new VariableFiller({ sources, home, fileFolder: dirname(file), read }, name);
    const filled = await filler.fill(understand(node, section.dialect).node);
    const readEnvironment = (path: string) => {
      environments.add(relative(folder, path));
      return read(path);
    };
    await loadEnvFile(filled, { home, base: folder, read: readEnvironment });
    const bases = { home, base: folder };
    for (const path of [...apiFiles(filled, bases), ...caFiles(filled, bases)]) await read(path);
  }
  return texts;
}

function tooMuch(file: string): NexusError {
  const limit = `${MAX_FILES} files or ${MAX_TOTAL_LENGTH} characters`;
  return new NexusError("CONFIG_INVALID", `The files that its servers refer to exceed the limit of ${limit}`, {
    phase: "config",
    source: { file },
    hint: "Refer to fewer or smaller files with ${file:…}, envFile and api.",
    mayHaveReached: false,
  });
}

/** A tool file decides where requests go and with which secrets; its lock records the approval. */
function apiFiles(node: SourceNode, bases: { home: string; base: string }): string[] {
  const member = findMember(node, "api");
  const value = member && plainValue(member.node);
  if (typeof value !== "string" || value === "") return [];
  const file = toAbsolutePath(value, bases);
  return [file, lockPath(file)];
}

/** Certificates say which servers get the secrets of an entry. */
function caFiles(node: SourceNode, bases: { home: string; base: string }): string[] {
  const member = findMember(node, "ca");
  const files: unknown[] = member ? [plainValue(member.node)].flat() : [];
  return files.filter((file) => typeof file === "string").map((file) => toAbsolutePath(file, bases));
}
