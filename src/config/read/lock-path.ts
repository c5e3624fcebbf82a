/** The path of a tool file's lock: `capcorn.nexus.lock` for `capcorn.nexus.yaml`. */
export function lockPath(toolFile: string): string {
  return `${toolFile.replace(/\.ya?ml$/i, "")}.lock`;
}
