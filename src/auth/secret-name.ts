import { NexusError } from "../errors/nexus-error.ts";
import { defaultInstance, type ServerInstance } from "./server-instance.ts";

const NAME = /^[\w.-]{1,128}$/;
/** `<server>.<name>` is a secret of that server. */
const OF_SERVER = /^([a-z][a-z0-9-]{0,31})\.(.+)$/;

export function isValidSecretName(name: string): boolean {
  return NAME.test(name);
}

/** Throws if the name is invalid. */
export function checkSecretName(name: string): void {
  if (isValidSecretName(name)) return;
  throw new NexusError("ARGUMENTS_INVALID", `${JSON.stringify(name)} is not a valid name for a secret`, {
    phase: "config",
    hint: "Use 1 to 128 letters, digits, dots, dashes and underscores.",
    mayHaveReached: false,
  });
}

/** The parts of a secret's name: its server, and its name there. */
export interface OwnedName {
  of: ServerInstance;
  name: string;
}

/** If the name does not start with a server's id, the server is empty: the secret belongs to the tenant. */
export function ownedName(full: string): OwnedName {
  const [, server = "", name = full] = OF_SERVER.exec(full) ?? [];
  return { of: defaultInstance(server), name };
}

export function fullName({ of, name }: OwnedName): string {
  return of.server === "" ? name : `${of.server}.${name}`;
}
