import { quoteWord } from "../../text/shell-words.ts";
import { isRecord } from "../../json/is-record.ts";
import { visible } from "../../text/visible.ts";

/** The command of an entry as it would be typed, or its URL, as written. */
export function reachAsWritten(entry: unknown): string {
  if (!isRecord(entry)) return "(no entry)";
  const { command, args, url, api } = entry;
  if (api !== undefined) return visible(`the tools of ${plain(api)}`);
  if (command === undefined) return url === undefined ? "(neither command nor url)" : visible(plain(url));
  const words = [command, args ?? []].flat().map(plain);
  return words.map((word) => visible(quoteWord(word))).join(" ");
}

/** Keys that say how the entry is reached, or whether it is enabled. */
const REACH: ReadonlySet<string> = new Set(["command", "args", "url", "api", "enabled", "disabled", "id"]);
/** Keys with their own texts. */
const WORDED: ReadonlySet<string> = new Set([
  "upstream",
  "cwd",
  "workdir",
  "env",
  "envFile",
  "env_passthrough",
  "headers",
]);

/** The rest of an entry, one line each: folder, variables and headers first. */
export function circumstancesAsWritten(entry: unknown): string[] {
  if (!isRecord(entry)) return [];
  const { cwd = entry["workdir"], env, envFile, env_passthrough: passed, headers, api, upstream } = entry;
  const others = Object.entries(entry).filter(([name]) => !REACH.has(name) && !WORDED.has(name));
  return [
    ...(upstream === undefined
      ? []
      : [`sends requests to ${upstream === "fake" ? "a fake" : plain(upstream)} instead`]),
    ...(api === undefined ? [] : [`requests and addresses: nexus api show ${quoteWord(plain(api))}`]),
    ...(cwd === undefined ? [] : [`in ${plain(cwd)}`]),
    ...pairs(env).map(([name, value]) => `with ${name}=${value}`),
    ...(envFile === undefined ? [] : [`with the variables of ${plain(envFile)}`]),
    ...(Array.isArray(passed) && passed.length > 0 ? [`with your variables ${passed.map(plain).join(", ")}`] : []),
    ...pairs(headers).map(([name, value]) => `sends ${name}: ${value}`),
    ...others.map(([name, value]) => `${name}: ${plain(value)}`),
  ].map(visible);
}

function pairs(value: unknown): [string, string][] {
  return isRecord(value) ? Object.entries(value).map(([name, text]) => [name, plain(text)]) : [];
}

function plain(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
