/** Not part of any configured id, so it belongs to no other server. */
const SEPARATOR = "@v";

/** The id of the server for one major version of a published server. */
export function majorServer(server: string, major: number | string): string {
  return `${server}${SEPARATOR}${major}`;
}

/** The server whose rules count: for one major version, the server itself. */
export function ruledServer(id: string): string {
  const at = id.indexOf(SEPARATOR);
  return at === -1 ? id : id.slice(0, at);
}
