import type { ProxySettings } from "../net/network.ts";

/** What the process was started in; read at the entry points, an argument everywhere else. */
export interface Surroundings {
  variables: Readonly<Record<string, string | undefined>>;
  platform: NodeJS.Platform;
  /** The user's home folder, an absolute path. */
  home: string;
  proxy: ProxySettings;
  /** PEM texts of NODE_EXTRA_CA_CERTS; Node adds them by itself only where nothing else is configured. */
  extraCertificates: readonly string[];
}
