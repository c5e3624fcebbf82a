import { readFileSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import type { Surroundings } from "./transport/surroundings.ts";
import { homeFolder } from "./transport/user-folders.ts";

/** Reads what the process was started in; the only place that does. */
export function readEnvironment(): Surroundings {
  const variables = process.env;
  const either = (name: string) => variables[name.toLowerCase()] ?? variables[name];
  return {
    variables,
    platform: process.platform,
    /** Only who needs it has to have one. */
    get home() {
      return homeFolder([attempt(homedir), attempt(() => userInfo().homedir)], process.platform);
    },
    proxy: { httpProxy: either("HTTP_PROXY"), httpsProxy: either("HTTPS_PROXY"), noProxy: either("NO_PROXY") },
    /** Only who reaches for the network reads them. */
    get extraCertificates() {
      return readCertificates(variables["NODE_EXTRA_CA_CERTS"]);
    },
  };
}

/** Both throw for an account that the system does not know. The first believes HOME, whatever it says. */
function attempt(find: () => string): string | undefined {
  try {
    return find();
  } catch {
    return undefined;
  }
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
