/**
 * Names on the endpoint of all servers: `<prefix>__<name>` for tools and prompts, where the prefix is the server's id
 * or the `prefix` of its entry; `<server>+<uri>` for resources. Ids and prefixes contain neither mark, so the first
 * mark ends them. The rest is the server's own name and may contain anything.
 */
const NAME_MARK = "__";
const URI_MARK = "+";

/** A thing of one server with the server's own name for it. */
export interface Own {
  server: string;
  own: string;
}

export function fullName(prefix: string, name: string): string {
  return prefix + NAME_MARK + name;
}

export function fullUri(server: string, uri: string): string {
  return server + URI_MARK + uri;
}

/** Undefined if the name does not begin with the prefix of a server. */
export function resolveFullName(text: string, serverOf: (prefix: string) => string | undefined): Own | undefined {
  const prefix = prefixOf(text, NAME_MARK);
  const server = prefix === undefined ? undefined : serverOf(prefix);
  if (prefix === undefined || server === undefined) return undefined;
  return { server, own: text.slice(prefix.length + NAME_MARK.length) };
}

export function resolveFullUri(text: string, isServer: (id: string) => boolean): Own | undefined {
  const server = prefixOf(text, URI_MARK);
  if (server === undefined || !isServer(server)) return undefined;
  return { server, own: text.slice(server.length + URI_MARK.length) };
}

function prefixOf(text: string, mark: string): string | undefined {
  const end = text.indexOf(mark);
  return end <= 0 ? undefined : text.slice(0, end);
}
