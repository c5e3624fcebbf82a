/**
 * Names on the endpoint that shows all servers: `<server>__<name>` for tools and prompts, `<server>+<uri>` for resources.
 * Ids of servers have neither mark inside, so the first one ends the id; what follows is the server's own and may contain
 * anything.
 */
const NAME_MARK = "__";
const URI_MARK = "+";

/** Something of one server, as that server calls it. */
export interface Own {
  server: string;
  own: string;
}

export function fullName(server: string, name: string): string {
  return server + NAME_MARK + name;
}

export function fullUri(server: string, uri: string): string {
  return server + URI_MARK + uri;
}

/** Undefined where it begins with no server that there is. */
export function resolveFullName(text: string, isServer: (id: string) => boolean): Own | undefined {
  return resolve(text, NAME_MARK, isServer);
}

export function resolveFullUri(text: string, isServer: (id: string) => boolean): Own | undefined {
  return resolve(text, URI_MARK, isServer);
}

function resolve(text: string, mark: string, isServer: (id: string) => boolean): Own | undefined {
  const end = text.indexOf(mark);
  if (end <= 0) return undefined;
  const server = text.slice(0, end);
  return isServer(server) ? { server, own: text.slice(end + mark.length) } : undefined;
}
