import { readFileSync } from "node:fs";
import type { ProxySettings } from "./net/network.ts";

/** What the process was started with, read here and passed down as arguments. */
export interface Environment {
  variables: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
  proxy: ProxySettings;
  /** PEM texts of NODE_EXTRA_CA_CERTS; Node adds them by itself only where nothing else is configured. */
  extraCertificates: readonly string[];
}

export function readEnvironment(): Environment {
  const variables = process.env;
  const either = (name: string) => variables[name.toLowerCase()] ?? variables[name];
  return {
    variables,
    platform: process.platform,
    proxy: { httpProxy: either("HTTP_PROXY"), httpsProxy: either("HTTPS_PROXY"), noProxy: either("NO_PROXY") },
    extraCertificates: readCertificates(variables["NODE_EXTRA_CA_CERTS"]),
  };
}

function readCertificates(path: string | undefined): readonly string[] {
  if (!path) return [];
  try {
    return [readFileSync(path, "utf8")];
  } catch {
    // Node itself warns about a file that cannot be read.
    return [];
  }
}
