import { readFileSync } from "node:fs";
import type { Surroundings } from "./transport/surroundings.ts";
import { homeFolder } from "./files/user-folders.ts";

/** Reads the environment of the process; nothing else does. */
export function readEnvironment(): Surroundings {
  const variables = process.env;
  const either = (name: string) => variables[name.toLowerCase()] ?? variables[name];
  return {
    variables,
    platform: process.platform,
    /** Lazy, because most commands do not need it and it may be missing. */
    get home() {
      // Rarely needed, so loaded on demand.
      return homeFolder(
        { platform: process.platform, variables },
        () => process.getBuiltinModule("node:os").userInfo().homedir,
      );
    },
    proxy: { httpProxy: either("HTTP_PROXY"), httpsProxy: either("HTTPS_PROXY"), noProxy: either("NO_PROXY") },
    /** Read only if the network is used. */
    get extraCertificates() {
      return readCertificates(variables["NODE_EXTRA_CA_CERTS"]);
    },
  };
}

function readCertificates(path: string | undefined): readonly string[] {
  if (!path) return [];
  try {
    return [readFileSync(path, "utf8")];
  } catch {
    // Node itself warns about an unreadable file.
    return [];
  }
}
