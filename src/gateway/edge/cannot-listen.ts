import { NexusError, type ErrorDetails } from "../../errors/nexus-error.ts";

/** Why the gateway cannot listen, and what to do. */
export function cannotListen(error: NodeJS.ErrnoException, port: number, address: string): NexusError {
  const details: ErrorDetails = { phase: "start", cause: error };
  const code = error.code ?? "";
  if (code === "EADDRINUSE") {
    return new NexusError("CONFIG_INVALID", `Port ${port} of ${address} is taken`, {
      ...details,
      likelyCause: "Another program listens there, perhaps another gateway.",
      hint: `Choose another port with --port ${port < 65_535 ? port + 1 : port - 1}, or let --port 0 find a free one.`,
    });
  }
  if (code === "EACCES") {
    return new NexusError("PERMISSION_DENIED", `Port ${port} of ${address} may not be used by you`, {
      ...details,
      hint: "Ports below 1024 belong to the system; choose a higher one with --port.",
    });
  }
  if (["EADDRNOTAVAIL", "ENOTFOUND", "EAI_AGAIN", "EINVAL"].includes(code)) {
    return new NexusError("CONFIG_INVALID", `${address} is no address of this machine`, {
      ...details,
      hint: "Leave --host out to listen on 127.0.0.1.",
    });
  }
  return new NexusError("CONFIG_INVALID", `Listening on ${address}, port ${port}, failed: ${error.message}`, details);
}
