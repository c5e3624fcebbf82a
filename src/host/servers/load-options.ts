import { join } from "node:path";
import type { FileCredentials } from "../../auth/oauth/credential-files.ts";
import type { CredentialStorage } from "../../auth/oauth/stored-credential.ts";
import { isTenantFolder } from "../../auth/tenant-folder.ts";
import type { SecretStore } from "../../auth/secrets.ts";
import type { LoadOptions } from "../../config/load.ts";
import { FileTrustStore, TRUST_EVERYTHING, type TrustStore } from "../../config/trust/trust-store.ts";
import type { Surroundings } from "../../transport/surroundings.ts";

interface StateOptions {
  surroundings: Surroundings;
  stateFolder: string;
  cwd?: string | undefined;
  /** Trust the project's files, and approvals of tool files by others, for this run. */
  trust?: boolean | undefined;
  askInput?: LoadOptions["askInput"];
  /** Default: those of this user, in the state folder. */
  secrets?: SecretStore | undefined;
  /** Default: that of this user, in the state folder. */
  trustStore?: TrustStore | undefined;
}

/** The options for reading the configuration, with trust and secrets from the state folder unless they are elsewhere. */
export function loadOptions(options: StateOptions): LoadOptions {
  const { surroundings, stateFolder, cwd, askInput, secrets } = options;
  const { platform, home, variables } = surroundings;
  return {
    cwd: cwd ?? process.cwd(),
    platform,
    home,
    variables,
    trust: trustFor(options),
    secrets: secrets ?? secretStore(surroundings, stateFolder),
    askInput,
  };
}

/** The trust store of this user, or one that trusts everything if `trust` is set. */
export function trustFor({ surroundings, stateFolder, trust, trustStore: given }: StateOptions): TrustStore {
  return trust ? TRUST_EVERYTHING : (given ?? trustStore(surroundings, stateFolder));
}

export function trustStore({ platform }: Surroundings, folder: string): TrustStore {
  return new FileTrustStore({ folder, platform });
}

/** The secrets of this user. */
export function secretStore(surroundings: Surroundings, folder: string): SecretStore {
  return secretsOpenedBy(() => openSecretStore(surroundings, folder));
}

/** Opened when the first secret is needed: most entries have none. */
export function secretsOpenedBy(open: () => Promise<SecretStore>): SecretStore {
  let opening: Promise<SecretStore> | undefined;
  const store = () => (opening ??= open());
  return {
    get: async (name) => (await store()).get(name),
    set: async (name, value, origins) => (await store()).set(name, value, origins),
    allow: async (name, origin) => (await store()).allow(name, origin),
    bind: async (name, origin) => (await store()).bind(name, origin),
    adopt: async (name, former) => (await store()).adopt(name, former),
    remove: async (name) => (await store()).remove(name),
    list: async () => (await store()).list(),
  };
}

async function openSecretStore({ platform, variables }: Surroundings, folder: string): Promise<SecretStore> {
  const [{ SystemKeychain }, { FileSecretStore }] = await Promise.all([
    import("../../auth/keychain.ts"),
    import("../../auth/secrets.ts"),
  ]);
  const keychain = new SystemKeychain({ platform, variables });
  return new FileSecretStore({ folder: join(folder, "secrets"), platform, keychain });
}

/** The kept logins of a state folder. Opened when the first is needed. */
export function credentialStorage(surroundings: Surroundings, stateFolder: string): CredentialStorage {
  let opening: Promise<FileCredentials> | undefined;
  const store = () => (opening ??= openCredentials(surroundings, stateFolder));
  return {
    load: async (server) => (await store()).load(server),
    save: async (credential) => (await store()).save(credential),
    remove: async (server) => (await store()).remove(server),
    exclusively: async (server, work) => (await store()).exclusively(server, work),
  };
}

export async function openCredentials(
  { platform, variables }: Surroundings,
  stateFolder: string,
): Promise<FileCredentials> {
  const [{ SystemKeychain }, { FileCredentials: Opened }] = await Promise.all([
    import("../../auth/keychain.ts"),
    import("../../auth/oauth/credential-files.ts"),
  ]);
  // The key of a tenant is removed with its folder; the keychain has the one of the user.
  const keychain = isTenantFolder(stateFolder) ? undefined : new SystemKeychain({ platform, variables });
  return new Opened({ stateFolder, platform, keychain });
}
