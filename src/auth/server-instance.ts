import { sha256 } from "../text/digest.ts";

/** The owner of stored data: secrets, recorded writes and other data of a server are kept by it. */
export interface ServerInstance {
  tenant: string;
  /** The server's id. */
  server: string;
  instance: string;
}

export const DEFAULT_TENANT = "default";
const DEFAULT_INSTANCE = "default";

/** The only instance that a server has so far. */
export function defaultInstance(server: string, tenant: string = DEFAULT_TENANT): ServerInstance {
  return { tenant, server, instance: DEFAULT_INSTANCE };
}

/**
 * A unique text for an instance and further names. Each part begins with its length, so two different instances never
 * have the same text.
 */
export function instanceKey({ tenant, server, instance }: ServerInstance, ...names: readonly string[]): string {
  return [tenant, server, instance, ...names].map((part) => `${part.length}:${part}`).join("");
}

/** The name of its file without the extension: readable and unique. */
export function instanceFileName(of: ServerInstance): string {
  const readable = of.server.toLowerCase().replace(/[^a-z0-9-]+/g, "-");
  return `${readable.slice(0, 32)}-${sha256(instanceKey(of)).slice(0, 16)}`;
}
