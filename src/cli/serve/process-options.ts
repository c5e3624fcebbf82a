import { DEFAULT_LIMITS } from "../../gateway/index.ts";

/** Options of `nexus serve` that limit child processes. */
export const PROCESS_OPTIONS = {
  "max-processes": {
    type: "string",
    value: "N",
    help: `maximum number of child processes of all servers; default: ${DEFAULT_LIMITS.processes}, or gateway.limits.processes`,
  },
  "max-memory": {
    type: "string",
    value: "4GB",
    help: "maximum memory of all child processes; default: no limit, or gateway.limits.memory",
  },
} as const;
