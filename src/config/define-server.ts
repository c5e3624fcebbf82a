import { toAbsolutePath } from "../files/paths.ts";
import { notAllowed } from "../auth/secret-origins.ts";
import { AuthorizationSecrets } from "../auth/secret-guard.ts";
import { publicOnlyWith } from "../net/public-only.ts";
import { maskUrl, maskWords } from "../masking/mask-words.ts";
import { nearestName } from "../text/nearest-name.ts";
import { splitCommandLine } from "../text/shell-words.ts";
import { writeForFile } from "../text/entry-notation.ts";
import { HiddenValues } from "../masking/hidden-values.ts";
import { messageOf, NexusError, type ErrorDetails, type ErrorSource } from "../errors/nexus-error.ts";
import { isRecord } from "../json/is-record.ts";
import { hasTrait, HOST_ENTRY, isSigningKey, OAUTH_WITHOUT_EFFECT, HOST_SETTINGS } from "../transport/entry-form.ts";
import { findWrongMembers, resolveEntry, WAYS } from "../transport/server-entry.ts";
import { OWN_KEYS } from "./read/entry-keys.ts";
import { understand, type Understood } from "./read/dialect.ts";
import type { EnvFile } from "./read/env-file.ts";
import { formatOf } from "./read/read-source.ts";
import type { ConfigWarning, Fault } from "./read/problem.ts";
import type { FoundServer, Section } from "./read/find-servers.ts";
import type { Layer, ServerDefinition, ServerSettings } from "./read/server-definition.ts";
import { serverId } from "../text/server-id.ts";
import { findMember, plainValue, type Member, type Place, type SourceNode } from "../source/source-node.ts";
import { VariableFiller, type VariableSources } from "./read/variables.ts";
import { readTree } from "../format/read-form.ts";
import { parseByteSize } from "../text/byte-size.ts";
import { problemSentence } from "../format/problem.ts";

/** What all servers of a file share. */
export interface FileContext {
  /** Undefined for servers that a program passes in. */
  file: string | undefined;
  layer: Layer;
  trusted: boolean;
  home: string;
  /** The base of relative paths of an entry, except `roots`. */
  base: string;
  rootsBase: string;
  /** The folder of the file. */
  fileFolder: string;
  /** Whether a text from a path with variables may be used; undefined: always. */
  mayUse?: ((path: string, text: string) => Promise<boolean>) | undefined;
  /** The entries came over the network: they start nothing, read nothing of this machine, and reach public addresses only. */
  isRemote?: boolean | undefined;
  /** Reads the file of `${file:path}`; default: from the disk. */
  read?: ((path: string) => Promise<string | undefined>) | undefined;
  /** The working folder of a server whose entry has none. */
  defaultCwd: string | undefined;
  sources: VariableSources;
}

interface Defined {
  server: ServerDefinition;
  warnings: ConfigWarning[];
}

const EXAMPLE = `Write { "command": "node", "args": ["server.js"] } or { "url": "https://example.com/mcp" }.`;

/** Maximum number of missing or unknown names in a message. */
const MAX_NAMED = 10;

/** Makes a definition from an entry. An error in it becomes the problem of this server only. */
export async function defineServer(found: FoundServer, context: FileContext): Promise<Defined> {
  const { file, layer, trusted } = context;
  const id = idOf(found);
  const understood = withSectionTimeout(understand(found.node, found.section.dialect), found.section);
  const filler = new VariableFiller(context, id);
  // Without trust no variable is resolved: people see the entry as written.
  const forbidden = context.isRemote ? localSetting(understood.node) : undefined;
  const node = trusted && !forbidden ? await filler.fill(understood.node) : understood.node;

  const { settings, fault: wrongSetting } = readServerSettings(node, found.section);
  const server: ServerDefinition = {
    id,
    ...settings,
    origin: file === undefined ? undefined : { file, ...found.place, layer },
    hides: [],
    trusted,
    extra: understood.extra,
  };
  if (server.name === undefined && found.name !== undefined && found.name !== id) server.name = found.name;

  if (filler.secrets.size > 0) server.secrets = new HiddenValues(filler.secrets);

  const report: Report = { id, context, written: understood.node };
  const written = asWritten(understood.node);
  if (JSON.stringify(written) !== JSON.stringify(asWritten(node))) server.written = written;
  const variables = trusted && !forbidden ? await envFileOf(node, understood.node, context) : {};
  const fault =
    faultOf(found) ??
    forbidden ??
    doubling(understood) ??
    misspelling(understood) ??
    together(filler.unresolved) ??
    variables.fault ??
    wrongSetting;
  if (fault) server.problem = problemOf(fault, report);
  else {
    resolveInto(server, node, { report, place: found.place, below: variables.env });
    limitSecrets(server, filler, { report, place: found.place });
    if (context.isRemote && server.entry) server.entry.network = { publicOnly: publicOnlyWith(ADDED_REMOTELY) };
  }
  return { server, warnings: file === undefined ? [] : warningsOf(understood, { id, file }) };
}

const ADDED_REMOTELY =
  "The server was added over the network, so it reaches public addresses only. The operator of the gateway can add it on its machine: nexus mcp add";

/** Uses the section's connection timeout if the entry has none. */
function withSectionTimeout(understood: Understood, { connectionTimeout }: Section): Understood {
  const { node } = understood;
  if (!connectionTimeout || node.kind !== "object" || findMember(node, connectionTimeout.key)) return understood;
  return { ...understood, node: { ...node, members: [...node.members, connectionTimeout] } };
}

/** The id of an entry. An entry without a name, which cannot run, gets a unique id from its position. */
export function idOf({ name, path, section }: FoundServer): string {
  return name === undefined ? `${section.name}[${path.at(-1) ?? 0}]` : serverId(name);
}

async function envFileOf(node: SourceNode, written: SourceNode, { home, base, mayUse }: FileContext): Promise<EnvFile> {
  if (!findMember(node, "envFile")) return {};
  const { loadEnvFile } = await import("./read/env-file.ts");
  return loadEnvFile(node, { home, base, written, mayUse });
}

/** The entry that an error is about. */
interface Report {
  id: string;
  context: FileContext;
  written: SourceNode;
}

function problemOf({ what, hint, place, code }: Fault, report: Report): NexusError {
  const message = `Server "${report.id}": ${what}`;
  const written = hint === undefined ? undefined : writeForFile(hint, report.context.file);
  const details = { hint: written, phase: "config" as const };
  return new NexusError(code ?? "CONFIG_INVALID", message, { ...details, ...detailsAt(place, report) });
}

function detailsAt(place: Place, { id, context, written }: Report): ErrorDetails {
  return { server: id, source: sourceAt(place, context), ...asWritten(written), mayHaveReached: false };
}

function sourceAt(place: Place, { file, layer }: FileContext): ErrorSource | undefined {
  return file === undefined ? undefined : { file, ...place, layer };
}

/** The place of the last key on the path, or of the last one that exists in the file. */
function placeOf(node: SourceNode, path: readonly string[]): Place | undefined {
  let [at, place]: [SourceNode | undefined, Place | undefined] = [node, undefined];
  for (const key of path) {
    const member = findMember(at, key);
    if (!member) break;
    ({ node: at, place } = member);
  }
  return place;
}

/** Adds the place of the entry; a place in the error itself is more exact and wins. */
function located(error: NexusError, details: ErrorDetails): NexusError {
  const { source = details.source, hint } = error.details;
  return error.amended({ ...details, source, ...(hint !== undefined && { hint: writeForFile(hint, source?.file) }) });
}

function faultOf({ name, node, place, section }: FoundServer): Fault | undefined {
  if (node.kind !== "object") return { place: node.place, what: "the entry is not an object", hint: EXAMPLE };
  if (name !== undefined) return undefined;
  return { place, what: `the entry of "${section.name}" has no "id"`, hint: `Add one: { "id": "files", … }.` };
}

/** Programs, files and variables of this machine are only for those who have an account on it. */
function localSetting(node: SourceNode): Fault | undefined {
  const member = findLocal(node);
  if (!member) return undefined;
  const what = `"${member.key}" is not allowed in an entry that comes over the network`;
  return { place: member.place, what, hint: "Add the server on the machine itself: nexus mcp add", code: "DENIED" };
}

/** The first member, at any depth, that is only for this machine. */
function findLocal(node: SourceNode, path: readonly string[] = []): Member | undefined {
  if (node.kind !== "object") return undefined;
  const found = node.members.find(({ key }) => hasTrait(HOST_ENTRY, [...path, key], "local"));
  return (
    found ?? node.members.map(({ key, node }) => findLocal(node, [...path, key])).find((inner) => inner !== undefined)
  );
}

/** Two spellings of one key are an error: which one counts must not depend on their order. */
function doubling({ doubled: [first] }: Understood): Fault | undefined {
  if (!first) return undefined;
  const [one, other] = first.keys;
  const what = one === other ? `"${one}" is written twice` : `"${one}" and "${other}" are synonyms`;
  return { place: first.place, what, hint: "Delete one of them." };
}

/** An entry that cannot be used because its required key is misspelt. */
function misspelling({ unknown, node }: Understood): Fault | undefined {
  if (WAYS.some((way) => findMember(node, way))) return undefined;
  for (const { key, place } of unknown) {
    const meant = nearestName(key, OWN_KEYS);
    if (!WAYS.some((way) => way === meant)) continue;
    return { place, what: `unknown key "${key}", and no "command" or "url"`, hint: `Did you mean "${meant}"?` };
  }
  return undefined;
}

/** Names all missing values at once; place and hint are those of the first. */
function together(faults: readonly Fault[]): Fault | undefined {
  const [first] = faults;
  const whats = [...new Set(faults.map(({ what }) => what))];
  const more = whats.length > MAX_NAMED ? [`and ${whats.length - MAX_NAMED} more`] : [];
  return first && { ...first, what: [...whats.slice(0, MAX_NAMED), ...more].join(", ") };
}

function resolveInto(
  server: ServerDefinition,
  node: SourceNode,
  { report, place, below }: { report: Report; place: Place; below: Record<string, string> | undefined },
): void {
  const value = plainValue(node);
  if (!isRecord(value)) return;
  if (below && (value["env"] ?? undefined) === undefined) value["env"] = below;
  else if (below && isRecord(value["env"])) value["env"] = { ...below, ...value["env"] };
  try {
    // An entry from a file can be anything; resolveEntry checks all of it.
    const locate = (path: readonly string[]) => sourceAt(placeOf(node, path) ?? place, report.context);
    const resolved = (values: Record<string, unknown>) =>
      resolveEntry({ ...withPaths(values, report.context), id: server.id }, locate);
    try {
      server.entry = resolved(value);
    } catch {
      server.entry = resolved(withWrittenMistakes(value, report));
    }
  } catch (error) {
    const needsVariables = !report.context.trusted && JSON.stringify(value).includes("${");
    if (!needsVariables) server.problem = located(wrapped(error), detailsAt(place, report));
  }
}

/**
 * A stored secret is sent only to its allowed addresses, no matter what a file says. One for an authorization server is
 * checked when it is sent. The environment of a command is not limited: a program of this user can do what the user can.
 */
function limitSecrets(
  server: ServerDefinition,
  { stored, uses }: Pick<VariableFiller, "stored" | "uses">,
  { report, place }: { report: Report; place: Place },
): void {
  const { entry } = server;
  if (stored.size === 0 || entry === undefined || !("url" in entry.reach) || !URL.canParse(entry.reach.url)) return;
  const { origin } = new URL(entry.reach.url);
  // The address of the server is sent to the authorization server as well.
  server.authorizationSecrets = new AuthorizationSecrets(
    uses
      .filter(({ path }) => path[0] !== "headers")
      .map(({ name, value, path }) => ({ name, value, isKey: isSigningKey(path.at(-1) ?? "") })),
  );
  const names = [...new Set(uses.filter((use) => !isOfOAuth(use)).map(({ name }) => name))];
  const refused = names.filter((name) => stored.get(name)?.origins?.includes(origin) === false);
  if (refused.length > 0) {
    server.problem = notAllowed(refused, origin).amended(detailsAt(place, report));
    delete server.entry;
    return;
  }
  const open = names.filter((name) => stored.get(name)?.origins === undefined);
  if (open.length > 0) server.secretsToBind = { names: open, origin };
}

/** It goes to an authorization server, whose address is not known yet. */
function isOfOAuth({ path }: VariableFiller["uses"][number]): boolean {
  return path[0] === "oauth";
}

/** Restores wrong values as written: an error message would show them, and a resolved value may be secret. */
function withWrittenMistakes(value: Record<string, unknown>, { written }: Report): Record<string, unknown> {
  const shown = { ...value };
  for (const key of findWrongMembers(value)) {
    const given = findMember(written, key);
    if (given) shown[key] = plainValue(given.node);
  }
  return shown;
}

/** An error in one entry affects only this entry. */
function wrapped(error: unknown): NexusError {
  return error instanceof NexusError ? error : new NexusError("INTERNAL", messageOf(error), { cause: error });
}

/** Relative paths of a file mean the same, no matter where Nexus is started. */
function withPaths(value: Record<string, unknown>, context: FileContext): Record<string, unknown> {
  const { roots } = value;
  // Empty and null count as absent; otherwise the process would start in the folder where Nexus was started.
  const given = [value["cwd"], value["workdir"]].find((path) => path !== undefined && path !== null && path !== "");
  const cwd = given ?? context.defaultCwd;
  const paths: Record<string, unknown> = { ...value };
  const { home, base, rootsBase } = context;
  if (value["command"] !== undefined && cwd !== undefined) paths["cwd"] = absolute(cwd, { home, base });
  if (value["api"] !== undefined) paths["api"] = absolute(value["api"], { home, base });
  if (typeof value["ca"] === "string") paths["ca"] = absolute(value["ca"], { home, base });
  if (Array.isArray(value["ca"])) paths["ca"] = value["ca"].map((file: unknown) => absolute(file, { home, base }));
  if (isRecord(value["oauth"])) paths["oauth"] = withFiles(value["oauth"], { home, base });
  if (Array.isArray(roots)) {
    paths["roots"] = roots.map((root: unknown) => {
      return typeof root === "string" && root.startsWith("file:") ? root : absolute(root, { home, base: rootsBase });
    });
  }
  return paths;
}

/** The `oauth` key with absolute paths, at any depth. */
function withFiles(
  value: Record<string, unknown>,
  bases: { home: string; base: string },
  path: readonly string[] = ["oauth"],
): Record<string, unknown> {
  const members = Object.entries(value).map(([key, member]) => {
    const at = [...path, key];
    if (hasTrait(HOST_ENTRY, at, "local")) return [key, absolute(member, bases)];
    return [key, isRecord(member) ? withFiles(member, bases, at) : member];
  });
  return Object.fromEntries(members) as Record<string, unknown>;
}

function absolute(path: unknown, bases: { home: string; base: string }): unknown {
  return typeof path !== "string" || path === "" ? path : toAbsolutePath(path, bases);
}

/** The command or URL as written, for errors, because resolved values may be secret. */
function asWritten(node: SourceNode): NonNullable<ServerDefinition["written"]> {
  const value = plainValue(node);
  if (!isRecord(value)) return {};
  const { command, args, url } = value;
  const words = [command, args].flat().filter((word) => typeof word === "string");
  return {
    ...(typeof command === "string" || Array.isArray(command) ? { command: maskWords(words).join(" ") } : {}),
    ...(typeof url === "string" ? { url: maskUrl(url) } : {}),
  };
}

function warningsOf({ unknown, node }: Understood, { id, file }: { id: string; file: string }): ConfigWarning[] {
  const warnings = unknown.slice(0, MAX_NAMED).map(({ key, place }): ConfigWarning => {
    const meant = nearestName(key, OWN_KEYS);
    const advice = meant === undefined ? "it has no effect" : `did you mean "${meant}"?`;
    return { message: `Server "${id}": unknown key "${key}"; ${advice}`, server: id, source: { file, ...place } };
  });
  const warn = (message: string, place: Place) =>
    warnings.push({ message: `Server "${id}": ${message}`, server: id, source: { file, ...place } });
  const [more] = unknown.slice(MAX_NAMED);
  if (more) warn(`${unknown.length - MAX_NAMED} more unknown keys`, more.place);
  for (const [key, shortMs] of Object.entries(SHORT_MS)) {
    const member = findMember(node, key);
    const value = member && plainValue(member.node);
    if (!member || typeof value !== "number" || value <= 0 || value >= shortMs) continue;
    warn(`"${key}": ${value} means ${value} milliseconds; write "${value}s" for seconds`, member.place);
  }
  for (const { message, place } of oauthWarnings(node)) warn(message, place);
  const command = findMember(node, "command");
  const words = command?.node.kind === "scalar" ? shellWords(command.node.value) : undefined;
  if (!command || !words) return warnings;
  const [program, ...args] = words;
  const better = [`"command": ${JSON.stringify(program)}`, `"args": ${JSON.stringify(maskWords(args))}`];
  const advice = writeForFile(better.join(formatOf(file) === "json" ? ", " : " and "), file);
  warn(`"command" contains arguments, but it is not split by a shell; write ${advice}`, command.place);
  return warnings;
}

/** Where settings for a login have no effect. */
function oauthWarnings(node: SourceNode): { message: string; place: Place }[] {
  const oauth = findMember(node, "oauth");
  if (oauth?.node.kind !== "object") return [];
  const headers = findMember(node, "headers")?.node;
  const own = headers?.kind === "object" && headers.members.find(({ key }) => key.toLowerCase() === "authorization");
  if (own) return [{ message: `"oauth" has no effect, because "headers" has "${own.key}"`, place: oauth.place }];
  if (!findMember(node, "url")) return [{ message: `"oauth" has no effect without "url"`, place: oauth.place }];
  const foreign = oauth.node.members.filter(({ key }) => (OAUTH_WITHOUT_EFFECT as readonly string[]).includes(key));
  return foreign.map(({ key, place }) => {
    return { message: `"oauth.${key}" has no effect; Nexus reads it from the server's metadata`, place };
  });
}

/** Smaller numbers are probably meant as seconds, as in other programs. */
const SHORT_MS = { timeout: 1_000, connection_timeout: 1_000, http_retry_backoff: 10 };

/** The words of a command line in one string; a path with spaces is not a command line. */
function shellWords(command: unknown): string[] | undefined {
  if (typeof command !== "string" || !/^[\w.@+-]+\s+\S/.test(command)) return undefined;
  return splitCommandLine(command);
}

/** The settings of a server that do not concern how it is reached, and the first mistake: its setting has the default. */
function readServerSettings(
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
    ...(value.always && !isWrong("always") && { always: value.always }),
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
    place: placeOfSetting(node, first.path) ?? first,
  };
  return { settings, fault };
}

function pinned(pin: boolean | readonly string[] | undefined): Pick<ServerDefinition, "pin"> {
  if (pin === undefined || pin === false) return {};
  return pin === true || pin.length > 0 ? { pin } : {};
}

/** The place of the key. */
function placeOfSetting(node: SourceNode, path: string) {
  const [key = "", inner] = path.split(/[.[]/);
  const member = findMember(node, key);
  return (inner === undefined ? undefined : findMember(member?.node, inner)?.place) ?? member?.place;
}
