/** How many child processes a gateway will run. */
export interface ProcessEstimate {
  /** Servers that are programs; each has one process for reading its lists. */
  servers: number;
  /** Of these, servers with one process for all clients. */
  shared: number;
  /** Further processes for each client, one for each of the other servers. */
  perClient: number;
  /** Of these, servers with a process for each call instead. */
  perCall: number;
  /** The maximum; absent where there is none. */
  limit?: number;
}
