import type { TrustStore } from "../config/trust/trust-store.ts";
import type { HostOptions } from "../host/host-options.ts";
import type { Store } from "../store/store.ts";
import type { OpenApi } from "../host/servers/server-connector.ts";
import type { ApiState } from "../workshop/open-api.ts";
import type { FollowedApis } from "../workshop/open-published.ts";
import { openApiWith } from "./open-api.ts";

type StateOptions = Required<Pick<HostOptions, "tenant" | "secrets" | "eraCache" | "trustStore" | "openApi">>;

/** The options of a host that keeps what belongs to its tenant in the store instead of in files. */
export function storedState(store: Store, tenant: string, ownTrust: TrustStore): StateOptions {
  return {
    tenant,
    secrets: store.secrets(tenant),
    eraCache: store.eras(tenant),
    trustStore: sharedTrust(ownTrust, store.trust),
    openApi: openApiWith({
      findState: async () => apiState(store),
      findPublished: async () => followedApis(store, tenant),
    }),
  };
}

/** Opens what a tenant has published, and keeps everything else in files. */
export function openPublished(store: Store, tenant: string): OpenApi {
  return openApiWith({ findPublished: async () => followedApis(store, tenant) });
}

/** What a tenant has published, in whatever process. */
export function followedApis(store: Pick<Store, "apis" | "changes">, tenant: string): FollowedApis {
  return {
    source: store.apis(tenant),
    changes: store.changes.of("apis"),
  };
}

/** Writes are recorded where every gateway on the database finds them. */
export function apiState(store: Store): ApiState {
  return { writes: (of) => store.writes(of), stateKey: (of) => store.stateKey(of) };
}

/**
 * What is trusted on this machine, and what was trusted for all gateways on the database. Decisions are made with both: taken
 * back, a file is trusted by neither.
 */
export function sharedTrust(own: TrustStore, shared: TrustStore): TrustStore {
  return {
    isTrusted: async (file, fingerprint) =>
      (await own.isTrusted(file, fingerprint)) ||
      // While the database is away, nothing is trusted because of it.
      (await shared.isTrusted(file, fingerprint).catch(() => false)),
    trust: async (file, fingerprint) => {
      await shared.trust(file, fingerprint);
      await own.trust(file, fingerprint);
    },
    revoke: async (file) => {
      await shared.revoke(file);
      await own.revoke(file);
    },
  };
}
