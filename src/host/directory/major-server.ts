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

/** What to say about a major version that is not published, to those who may use its server; undefined for other ids. */
export function unpublishedMajor(id: string): string | undefined {
  const server = ruledServer(id);
  if (server === id) return undefined;
  const major = id.slice(server.length + SEPARATOR.length);
  return `Version ${major} of server "${server}" is not published: it was retired, or never published. Use /servers/${server}/mcp, and read its list of tools again`;
}
