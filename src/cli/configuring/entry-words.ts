import { isRecord } from "../../protocol/json-rpc.ts";
import { visible } from "../../errors/visible.ts";
import { quoteWord } from "../text/split-words.ts";

/** How an entry is reached, as it was written: its command as one would type it, or its URL. */
export function reachAsWritten(entry: unknown): string {
  if (!isRecord(entry)) return "(no entry)";
  const { command, args, url, api } = entry;
  if (api !== undefined) return visible(`the tools of ${plain(api)}`);
  if (command === undefined) return url === undefined ? "(neither command nor url)" : visible(plain(url));
  const words = [command, args ?? []].flat().map(plain);
  return words.map((word) => visible(quoteWord(word))).join(" ");
}

/** What else of an entry decides what is run or sent: its folder, its variables, its headers, one line each. */
export function circumstancesAsWritten(entry: unknown): string[] {
  if (!isRecord(entry)) return [];
  const { cwd = entry["workdir"], env, envFile, env_passthrough: passed, headers, api, upstream } = entry;
  return [
    ...(upstream === undefined
      ? []
      : [`sends requests to ${upstream === "fake" ? "a fake" : plain(upstream)} instead`]),
    ...(api === undefined ? [] : [`where it sends what: nexus api show ${quoteWord(plain(api))}`]),
    ...(cwd === undefined ? [] : [`in ${plain(cwd)}`]),
    ...pairs(env).map(([name, value]) => `with ${name}=${value}`),
    ...(envFile === undefined ? [] : [`with the variables of ${plain(envFile)}`]),
    ...(Array.isArray(passed) && passed.length > 0 ? [`with your ${passed.map(plain).join(", ")}`] : []),
    ...pairs(headers).map(([name, value]) => `sends ${name}: ${value}`),
  ].map(visible);
}

function pairs(value: unknown): [string, string][] {
  return isRecord(value) ? Object.entries(value).map(([name, text]) => [name, plain(text)]) : [];
}

function plain(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
