import { sha256 } from "./digest.ts";

/** The form of an id. */
export const SERVER_ID = /^[a-z][a-z0-9-]{0,31}$/;
const HASH_LENGTH = 6;

/** Whether a text is a valid id. */
export function isServerId(text: string): boolean {
  return SERVER_ID.test(text);
}

/** The id of a server named `name`: the name itself if it is valid, otherwise one derived from it. */
export function serverId(name: string): string {
  if (SERVER_ID.test(name)) return name;
  const words = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
  if (words === "") return `server-${hash(name)}`;
  const id = /^[a-z]/.test(words) ? words : `s-${words}`;
  // Cutting the end could make different names the same, so a hash is added.
  return SERVER_ID.test(id) ? id : `${id.slice(0, 31 - HASH_LENGTH).replace(/-+$/, "")}-${hash(name)}`;
}

/**
 * A full name such as `My_Server.search` with the id of its server. A server can be addressed by its name in the file,
 * which may contain dots.
 */
export function withServerId(fullName: string, isServer: (id: string) => boolean): string {
  const name = fullName.startsWith("mcp:") ? fullName.slice("mcp:".length) : fullName;
  const heads: string[] = [];
  for (let dot = name.indexOf("."); dot > 0; dot = name.indexOf(".", dot + 1)) heads.push(name.slice(0, dot));
  if (heads.some(isServer)) return fullName;
  const head = heads.find((each) => isServer(serverId(each)));
  return head === undefined ? fullName : `${serverId(head)}${name.slice(head.length)}`;
}

function hash(name: string): string {
  return sha256(name).slice(0, HASH_LENGTH);
}
