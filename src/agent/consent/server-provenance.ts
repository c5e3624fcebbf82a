/** Where a server comes from, for people. */
export interface ServerProvenance {
  /** Its command, URL or tool file, without secrets. */
  reach: string;
  /** `mcp.json:12`; undefined for a server that a program passes in. */
  file: string | undefined;
}
