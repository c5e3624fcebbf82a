import { toAbsolutePath } from "../../files/paths.ts";
import { pathOf, projectFolderOf, type ConfigContext } from "../../config/read/places.ts";
import type { TrustStore } from "../../config/trust/trust-store.ts";
import { visible } from "../../text/visible.ts";
import { isRecord } from "../../json/is-record.ts";
import { accept, isAccepted, revokeAcceptance } from "../../workshop/acceptance.ts";
import type { CompiledApi } from "../../workshop/compile/compile.ts";
import { loadApi, type LoadedApi } from "../../workshop/load-api.ts";
import { differences } from "../../workshop/review/differences.ts";
import { isApproved } from "../../workshop/review/lock.ts";
import { showForApproval } from "../api/show-for-approval.ts";
import type { Output } from "../output/output.ts";
import type { ProjectFile } from "./project-files.ts";

/** A tool file of a project's entry, as read. */
export interface ProjectToolFile {
  server: string;
  path: string;
  /** Undefined if it cannot be compiled. */
  api: CompiledApi | undefined;
  documents: LoadedApi["documents"];
  /** Whether its lock approves this version. */
  isLocked: boolean;
  /** Whether this user has accepted this version. */
  isAccepted: boolean;
}

/** The tool files of a project's entries, except those whose path has variables: `nexus api approve` handles them. */
export async function loadToolFiles(
  files: readonly ProjectFile[],
  { platform, home }: ConfigContext,
  trust: TrustStore,
): Promise<ProjectToolFile[]> {
  const named = files.flatMap(({ file, written }) => {
    const base = projectFolderOf(file, pathOf(platform));
    return (written?.servers ?? []).flatMap(({ id, entry }) => {
      const path = isRecord(entry) ? entry["api"] : undefined;
      const isPlain = typeof path === "string" && path !== "" && !path.includes("${");
      return isPlain ? [{ server: id, path: toAbsolutePath(path, { home, base }) }] : [];
    });
  });
  return Promise.all(named.map(({ server, path }) => loadToolFile(server, path, trust)));
}

async function loadToolFile(server: string, path: string, trust: TrustStore): Promise<ProjectToolFile> {
  const { api, lock, documents, problems } = await loadApi(path).catch(() => NOTHING);
  if (!api || problems.some(({ severity }) => severity === "error")) {
    return { server, path, documents, api: undefined, isLocked: false, isAccepted: false };
  }
  return {
    server,
    path,
    documents,
    api,
    isLocked: isApproved(lock, api),
    isAccepted: await isAccepted(path, api, trust),
  };
}

const NOTHING: Pick<LoadedApi, "api" | "lock" | "documents" | "problems"> = { documents: {}, problems: [] };

/** Whether trusting the project accepts it. */
export function isOpen({ isLocked, isAccepted }: ProjectToolFile): boolean {
  return isLocked && !isAccepted;
}

/** What would be served and was not accepted yet. */
export function showToolFiles(out: Output, files: readonly ProjectToolFile[]): void {
  for (const file of files) {
    const { server, path, api, documents, isLocked } = file;
    if (isOpen(file) && api) {
      out.line(`${visible(path)} (server ${server})`);
      showForApproval(out, { api, lock: undefined, quotes: false, changes: differences(undefined, api, documents) });
    } else if (!isLocked) {
      out.advice(`${visible(path)} (server ${server}) is not approved, so it is not served: nexus api approve`);
      out.line();
    }
  }
}

export async function acceptToolFiles(files: readonly ProjectToolFile[], trust: TrustStore): Promise<void> {
  for (const { path, api } of files.filter(isOpen)) if (api) await accept(path, api, trust);
}

export async function revokeToolFiles(files: readonly ProjectToolFile[], trust: TrustStore): Promise<void> {
  for (const { path } of files) await revokeAcceptance(path, trust);
}

/** The same for programs. */
export function toolFileFacts({ server, path, api, isLocked, isAccepted }: ProjectToolFile): Record<string, unknown> {
  return { server, file: path, hash: api?.hash, approved: isLocked, trusted: isAccepted };
}
