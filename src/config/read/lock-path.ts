/** The lock of a tool file, beside it: `capcorn.nexus.yaml` has `capcorn.nexus.lock`. */
export function lockPath(toolFile: string): string {
  return `${toolFile.replace(/\.ya?ml$/i, "")}.lock`;
}
