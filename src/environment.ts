import { readFileSync } from "node:fs";
import type { Surroundings } from "./transport/surroundings.ts";
import { homeFolder } from "./files/user-folders.ts";

/** Reads what the process was started in; the only place that does. */
export function readEnvironment(): Surroundings {
  const variables = process.env;
  const either = (name: string) => variables[name.toLowerCase()] ?? variables[name];
  return {
    variables,
    platform: process.platform,
    /** Only who needs it has to have one. */
    get home() {
      // Rarely needed, and not loaded until then.
      return homeFolder(
        { platform: process.platform, variables },
        () => process.getBuiltinModule("node:os").userInfo().homedir,
      );
    },
    proxy: { httpProxy: either("HTTP_PROXY"), httpsProxy: either("HTTPS_PROXY"), noProxy: either("NO_PROXY") },
    /** Only who reaches for the network reads them. */
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
    // Node itself warns about a file that cannot be read.
    return [];
  }
}
