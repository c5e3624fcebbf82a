import { type ConfigFile, loadConfiguration } from "../../config/load.ts";
import type { ConfigContext } from "../../config/read/places.ts";
import type { TrustStore } from "../../config/trust/trust-store.ts";
import { loadWritten, type WrittenServers } from "../../config/edit/written-servers.ts";
import { NexusError } from "../../errors/nexus-error.ts";

/** A file of the project or of a folder above it, as read. */
export interface ProjectFile extends Pick<ConfigFile, "file" | "layer" | "trustKey"> {
  /** Whether this version is trusted. */
  trusted: boolean;
  written: WrittenServers | undefined;
  problem: NexusError | undefined;
}

/** Every file that others may have written, with what it would start. */
export async function loadProjectFiles(surroundings: ConfigContext, trust: TrustStore): Promise<ProjectFile[]> {
  const { files } = await loadConfiguration({ ...surroundings, trust });
  const theirs = files.filter(({ layer }) => layer === "project" || layer === "ancestor");
  return Promise.all(
    theirs.map(async ({ file, layer, trustKey, problem }): Promise<ProjectFile> => {
      try {
        // One reading for what is shown and what is trusted, because the file may change at any time.
        const written = await loadWritten(file, surroundings);
        const trusted = written !== undefined && (await trust.isTrusted(trustKey, written.fingerprint));
        return { file, layer, trustKey, trusted, written, problem: written ? undefined : problem };
      } catch (error) {
        if (!(error instanceof NexusError)) throw error;
        return { file, layer, trustKey, trusted: false, written: undefined, problem: error };
      }
    }),
  );
}
