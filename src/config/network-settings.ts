import { dirname } from "node:path";
import { NexusError, asNexusError } from "../errors/nexus-error.ts";
import { toAbsolutePath } from "../files/paths.ts";
import { kinds, list, record, text } from "../format/form.ts";
import { strictest } from "../net/public-only.ts";
import { publicOnly as publicOnlyForm } from "../transport/entry-form.ts";
import type { NetworkRules } from "../transport/server-entry.ts";
import type { ServerDefinition } from "./read/server-definition.ts";
import type { SettingsSection } from "./settings-section.ts";

/** What the configuration may say about the network. */
export const NETWORK = record({
  ca: kinds({ list: list(text()), text: text() })
    .advice(`Write "ca": ["company-root.pem"].`)
    .says("PEM files of additional trusted certificate authorities.")
    .optional(),
  publicOnly: publicOnlyForm("publicOnly")
    .says("Refuses internal addresses: loopback, private networks, cloud metadata; `allow` lists exceptions.")
    .optional(),
});

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
  const [ca, publicOnly] = [network.read(NETWORK, "ca"), network.read(NETWORK, "publicOnly")];
  if (!ca && !publicOnly) return undefined;
  const bases = { home, base: ca ? dirname(ca.file) : home };
  return {
    caFiles: [ca?.value ?? []].flat().map((file) => toAbsolutePath(file, bases)),
    publicOnly: publicOnly?.value,
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
