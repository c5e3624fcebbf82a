import { gatewayLimits, readBytes, readCount } from "../../config/gateway-settings.ts";
import { DEFAULT_LIMITS } from "../../gateway/index.ts";
import type { HostOptions } from "../../host/host-options.ts";
import { ProcessBudget, type ProcessBudgetOptions } from "../../process/process-budget.ts";
import type { ProcessLimits } from "../../process/process-limits.ts";
import { wrongUsage } from "../command/command-line.ts";

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

type GivenLimits = { readonly [option in keyof typeof PROCESS_OPTIONS]?: string | undefined };

/** A budget with the limits of the command line, and below them those of the configuration as it is read. */
export function limitProcesses(
  given: GivenLimits,
  options: ProcessBudgetOptions,
): Pick<HostOptions, "processes" | "onConfiguration"> {
  const { processes: most } = DEFAULT_LIMITS;
  const own = limitsIn(given);
  const processes = new ProcessBudget({ processes: most, ...own }, options);
  return {
    processes,
    onConfiguration: ({ gateway }) => {
      const { firstListMs: _, ...limits } = gateway ? gatewayLimits(gateway) : {};
      processes.setLimits({ processes: most, ...limits, ...own });
    },
  };
}

function limitsIn({ "max-processes": count, "max-memory": size }: GivenLimits): ProcessLimits {
  const processes = count === undefined ? undefined : readCount(Number(count));
  const memoryBytes = size === undefined ? undefined : readBytes(size);
  if (count !== undefined && processes === undefined)
    throw wrongUsage(`--max-processes "${count}" is not a number of processes`, "Use a number from 1.");
  if (size !== undefined && memoryBytes === undefined)
    throw wrongUsage(`--max-memory "${size}" is not a size`, "Use a size like 512MB or 4GB.");
  return { ...(processes && { processes }), ...(memoryBytes && { memoryBytes }) };
}
