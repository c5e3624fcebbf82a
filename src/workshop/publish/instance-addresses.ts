import { NexusError } from "../../errors/nexus-error.ts";
import { isLoopback } from "../../text/loopback.ts";
import type { ToolFile } from "../file/model/tool-file.ts";
import { covers } from "../file/forms/parts.ts";
import type { ApiInstance } from "./published.ts";

type Reached = Pick<ApiInstance, "upstream" | "addresses">;

/** Whether an instance reaches another address than the approved one, which is not a replacement on this machine. */
export function isElsewhere(upstream: string | undefined): boolean {
  return upstream !== undefined && upstream !== "fake" && !isOnThisMachine(upstream);
}

/** All addresses that the requests and token requests of a file start with. */
export function addressesOf({ upstream, tools, secrets }: ToolFile): string[] {
  const bases = Object.values(tools).flatMap(({ request }) => request?.base ?? []);
  const tokens = Object.values(secrets).flatMap(({ oauth }) => oauth?.tokenUrl ?? []);
  return [...new Set([upstream.base, ...bases, ...tokens])];
}

/** Those addresses for which the instance does not say where they are reached instead. */
export function unreplacedAddresses(file: ToolFile, instance: Reached): string[] {
  if (!isElsewhere(instance.upstream)) return [];
  return addressesOf(file).filter((address) => replaced(file, instance, address) === undefined);
}

/** The same API at other addresses. What they do not replace cannot be reached. */
export function atAddresses(file: ToolFile, instance: Reached): ToolFile {
  const at = (address: string) => replaced(file, instance, address) ?? UNREACHABLE;
  const tools = Object.entries(file.tools).map(([name, tool]) => {
    const { request } = tool;
    return [name, request?.base === undefined ? tool : { ...tool, request: { ...request, base: at(request.base) } }];
  });
  const secrets = Object.entries(file.secrets).map(([name, { oauth, ...set }]) => [
    name,
    oauth ? { ...set, oauth: { ...oauth, tokenUrl: at(oauth.tokenUrl) } } : set,
  ]);
  const { upstream } = file;
  // Other prefixes would still allow links to the addresses of the file.
  const allow = [...upstream.allow, ...addressesOf(file)].flatMap((prefix) => replaced(file, instance, prefix) ?? []);
  return {
    ...file,
    upstream: { ...upstream, base: at(upstream.base), allow: [...new Set(allow)] },
    tools: Object.fromEntries(tools) as ToolFile["tools"],
    secrets: Object.fromEntries(secrets) as ToolFile["secrets"],
  };
}

/** A request to the address in the file would be one to the real system. */
export function notReplaced(
  code: "ARGUMENTS_INVALID" | "CONFIG_INVALID",
  { server, upstream }: Pick<ApiInstance, "server" | "upstream">,
  addresses: readonly string[],
): NexusError {
  const all = addresses.join(", ");
  return new NexusError(code, `Server "${server}": its address ${upstream} does not replace ${all} of the tool file`, {
    server,
    hint: `Say where each is reached instead, in its addresses: ${addresses[0]}=URL. To reach the same one, write it as the URL.`,
    mayHaveReached: false,
  });
}

/** No host has this name (RFC 2606), and it is never in the list of allowed addresses. */
const UNREACHABLE = "https://nowhere.invalid/";

/** Where an address of the file is reached by the instance: by the longest prefix that has a replacement. */
function replaced({ upstream: { base } }: ToolFile, { upstream = "", addresses = {} }: Reached, address: string) {
  const pairs: [string, string][] = [[base, upstream], ...Object.entries(addresses)];
  const [former, latter] = [new URL(base), new URL(upstream)];
  // The rest of the same host, where only the host is another one.
  if (former.pathname === withSlash(latter.pathname)) pairs.push([`${former.origin}/`, `${latter.origin}/`]);
  const fitting = pairs.filter(([prefix]) => covers(prefix, address));
  const best = fitting.toSorted(([a], [b]) => b.length - a.length)[0];
  return best && moved(address, best);
}

function moved(address: string, [prefix, target]: readonly [string, string]): string {
  const rest = address.slice(prefix.length).replace(/^\//, "");
  if (rest === "") return address.endsWith("/") ? withSlash(target) : target;
  return withSlash(target) + rest;
}

function withSlash(address: string): string {
  return address.endsWith("/") ? address : `${address}/`;
}

function isOnThisMachine(address: string): boolean {
  return URL.canParse(address) && isLoopback(new URL(address).hostname);
}
