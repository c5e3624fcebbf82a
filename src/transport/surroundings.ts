import type { ProxySettings } from "../net/network.ts";

/** The environment of the process; read at the entry points and passed on as an argument. */
export interface Surroundings {
  variables: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
  /** The user's home folder, an absolute path. */
  home: string;
  proxy: ProxySettings;
  /** PEM texts of NODE_EXTRA_CA_CERTS; Node adds them only if nothing else is configured. */
  extraCertificates: readonly string[];
}
