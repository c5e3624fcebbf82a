import { durationText } from "../../text/duration.ts";
import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { failuresForPrograms } from "../command/ask-servers.ts";
import { maskUrl, withoutDefaults } from "../../masking/mask-words.ts";
import { visible } from "../../text/visible.ts";
import { isRecord } from "../../json/is-record.ts";
import { factLines, type Fact } from "../output/facts.ts";
import type { Output } from "../output/output.ts";
import { maskedMembers, reachMember, reachText } from "./reach-text.ts";
import { placeText, shortPath } from "../output/short-path.ts";
import type { WrittenEntry } from "./written-entries.ts";
import type { ConfigWarning } from "../../config/read/problem.ts";

interface Explained {
  definition: ServerDefinition;
  /** The entry as written in its file. */
  written: WrittenEntry | undefined;
  warnings: readonly ConfigWarning[];
  home: string;
}

/** Shows the meaning and the place of an entry. */
export function explainServer(out: Output, explained: Explained): void {
  const { definition, written = {} } = explained;
  const { id, name, problem, origin, hides, enabled, trusted, autoStart, isolation, tools, agents, prefix } =
    definition;
  const warnings = explained.warnings.filter(({ server }) => server === id);
  const env = maskedMembers(written["env"], "=");
  const headers = maskedMembers(written["headers"], ": ");
  if (out.json) {
    const reach = { transport: definition.entry?.reach.kind, reach: reachText(written), env, headers };
    const settings = {
      enabled,
      trusted,
      autoStart,
      isolation,
      tools,
      agents,
      prefix,
      extra: Object.keys(definition.extra ?? {}),
    };
    const [error] = problem ? failuresForPrograms([problem]) : [];
    return out.value({ server: id, name, source: origin, hides, ...settings, ...reach, problem: error, warnings });
  }
  const title = name === undefined ? id : `${id} (${name})`;
  for (const line of factLines(out, visible(title), facts(explained, { env, headers }))) out.line(line);
  for (const { message, source } of warnings) {
    out.note(`${out.onStderr("yellow", "warning:")} ${visible(message)} (${source.file}:${source.line})`);
  }
  if (problem) out.error(problem);
}

function facts({ definition, written = {}, home }: Explained, masked: { env: string[]; headers: string[] }): Fact[] {
  const {
    origin,
    hides,
    enabled,
    trusted,
    autoStart,
    isolation,
    tools,
    agents,
    prefix,
    entry,
    extra = {},
  } = definition;
  const reach = entry?.reach;
  const { url, api } = reachMember(written);
  const way = url === undefined ? (api === undefined ? "started by" : "tool file") : "reached at";
  return [
    ["configured", origin ? [placeText(origin, home)] : []],
    ["hides", hides.map((file) => `the server with the same name in ${shortPath(file, home)}`)],
    ["state", [[enabled ? "enabled" : "disabled", trusted ? "trusted" : "not trusted"].join(", ")]],
    [way, present(reachText(written))],
    ["transport", present(reach?.kind)],
    ["runs in", present(folderText(definition, written, home))],
    ["env", masked.env],
    ["passes on", reach?.kind === "stdio" ? [...reach.passthrough] : []],
    ["headers", masked.headers],
    ["variables", [...new Set(variablesIn(written))]],
    ["oauth", oauthText(written["oauth"])],
    ["roots", rootsIn(written["roots"])],
    ["timeout", entry?.timeoutMs === undefined ? [] : [`${durationText(entry.timeoutMs)} for an answer`]],
    ["connecting", entry?.connectTimeoutMs === undefined ? [] : [`at most ${durationText(entry.connectTimeoutMs)}`]],
    ["tools", [...listed("only", tools.allow), ...listed("never", tools.deny)]],
    ["shared with", listed("only", agents)],
    ["starts", [autoStart ? "when the host opens" : "on first use"]],
    ["isolation", [isolation]],
    ["prefix", present(prefix)],
    ["ignored", Object.keys(extra)],
  ];
}

/** Only the names of the settings: their values may be secret. */
function oauthText(oauth: unknown): string[] {
  if (oauth === false) return ["off"];
  return isRecord(oauth) ? [Object.keys(oauth).join(", ")] : [];
}

/** As written: resolved values may be secret. */
function folderText({ entry }: ServerDefinition, written: WrittenEntry, home: string): string | undefined {
  const { cwd = written["workdir"] } = written;
  if (typeof cwd === "string" && cwd !== "") return withoutDefaults(shortPath(cwd, home));
  const folder = entry?.reach.kind === "stdio" ? entry.reach.cwd : undefined;
  return folder === undefined ? undefined : shortPath(folder, home);
}

function rootsIn(roots: unknown): string[] {
  if (!Array.isArray(roots)) return [];
  const places = roots.map((root: unknown) => (isRecord(root) ? root["uri"] : root));
  return places.filter((place) => typeof place === "string").map((place) => withoutDefaults(maskUrl(place)));
}

function present(text: string | undefined): string[] {
  return text === undefined ? [] : [text];
}

function listed(word: string, names: readonly string[] | undefined): string[] {
  return names ? [`${word} ${names.join(", ") || "nothing"}`] : [];
}

/** The names of the variables an entry uses. */
function variablesIn(value: unknown): string[] {
  if (typeof value === "string")
    return [...value.matchAll(/(?<!\$)\$\{([\w:.-]+?)(?::-[^}]*)?\}/g)].map(([, name = ""]) => name);
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(variablesIn) : [];
}
