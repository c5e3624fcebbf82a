import { sha256 } from "../text/digest.ts";

/** Whose data something is. Secrets, recorded writes and whatever else is kept for a server are kept by this. */
export interface ServerInstance {
  tenant: string;
  /** The server's id. */
  server: string;
  instance: string;
}

const DEFAULT_TENANT = "default";
const DEFAULT_INSTANCE = "default";

/** The only instance that a server has so far. */
export function defaultInstance(server: string): ServerInstance {
  return { tenant: DEFAULT_TENANT, server, instance: DEFAULT_INSTANCE };
}

/** One text for an instance and what is named below it. Lengths stand before the parts, so no two of them are alike. */
export function instanceKey({ tenant, server, instance }: ServerInstance, ...names: readonly string[]): string {
  return [tenant, server, instance, ...names].map((part) => `${part.length}:${part}`).join("");
}

/** What a file for it is called, without its ending: readable, and different for every instance. */
export function instanceFileName(of: ServerInstance): string {
  const readable = of.server.toLowerCase().replace(/[^a-z0-9-]+/g, "-");
  return `${readable.slice(0, 32)}-${sha256(instanceKey(of)).slice(0, 16)}`;
}
