import { dirname } from "node:path";
import { NexusError, asNexusError } from "../errors/nexus-error.ts";
import { toAbsolutePath } from "../files/paths.ts";
import { strictest } from "../net/public-only.ts";
import { plainValue } from "../source/source-node.ts";
import { isPublicOnly, type NetworkRules } from "../transport/server-entry.ts";
import type { ServerDefinition } from "./read/server-definition.ts";
import type { SettingsSection } from "./settings-section.ts";

/**
 * Adds what "network" says to every server on the network. Where that is not valid, none of them is reached: the user wanted
 * more than the defaults.
 */
export function applyNetwork(servers: readonly ServerDefinition[], network: SettingsSection, home: string): void {
  const concerned = servers.filter(({ entry }) => entry && entry.reach.kind !== "stdio");
  if (concerned.length === 0) return;
  try {
    const rules = networkRules(network, home);
    if (rules) for (const { entry } of concerned) if (entry) entry.network = together(entry.network, rules);
  } catch (error) {
    for (const server of concerned) withProblem(server, asNexusError(error));
  }
}

/** What "network" says; undefined where it says nothing. Throws where it is not valid. */
export function networkRules(network: SettingsSection, home: string): NetworkRules | undefined {
  const [ca, publicOnly] = [network.find("ca"), network.find("publicOnly")];
  if (!ca && !publicOnly) return undefined;
  const files: unknown[] = ca ? [plainValue(ca.node)].flat() : [];
  if (ca && !files.every((file) => typeof file === "string" && file !== ""))
    throw network.invalid(ca, "is not a list of PEM files", `Write "ca": ["company-root.pem"].`);
  const rule = publicOnly && plainValue(publicOnly.node);
  if (publicOnly && !isPublicOnly(rule))
    throw network.invalid(publicOnly, 'is not true, false or an object with "allow"', `Write "publicOnly": true.`);
  const bases = { home, base: ca ? dirname(ca.file) : home };
  return {
    caFiles: files.filter((file) => typeof file === "string").map((file) => toAbsolutePath(file, bases)),
    publicOnly: isPublicOnly(rule) ? rule : undefined,
  };
}

function together(own: NetworkRules | undefined, all: NetworkRules): NetworkRules {
  return {
    caFiles: [...(own?.caFiles ?? []), ...(all.caFiles ?? [])],
    publicOnly: strictest(own?.publicOnly, all.publicOnly),
  };
}

function withProblem(server: ServerDefinition, { code, message, details }: NexusError): void {
  server.problem ??= new NexusError(code, `Server "${server.id}": ${message}`, { ...details, server: server.id });
}
