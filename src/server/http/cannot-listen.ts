import { NexusError, type ErrorDetails } from "../../errors/nexus-error.ts";
import type { HttpWords } from "./foreign-request.ts";

/** Why a server cannot listen, and what to do. */
export function cannotListen(
  error: NodeJS.ErrnoException,
  { port, address, words }: { port: number; address: string; words: HttpWords },
): NexusError {
  const details: ErrorDetails = { phase: "start", cause: error };
  const code = error.code ?? "";
  if (code === "EADDRINUSE") {
    const other = `${words.port} ${port < 65_535 ? port + 1 : port - 1}`;
    return new NexusError("CONFIG_INVALID", `Port ${port} of ${address} is already in use`, {
      ...details,
      likelyCause: `Another program listens on this port, perhaps another ${words.self}.`,
      hint: `Choose another port with ${other}, or use ${words.port} 0 for any free port.`,
    });
  }
  if (code === "EACCES") {
    return new NexusError("PERMISSION_DENIED", `No permission to listen on port ${port} of ${address}`, {
      ...details,
      hint: `Ports below 1024 are reserved. Choose a higher port, such as ${words.port} 8080.`,
    });
  }
  if (["EADDRNOTAVAIL", "ENOTFOUND", "EAI_AGAIN", "EINVAL"].includes(code)) {
    return new NexusError("CONFIG_INVALID", `${address} is not an address of this machine`, {
      ...details,
      hint: `Use ${words.address} 127.0.0.1 to listen for programs of this machine.`,
    });
  }
  return new NexusError("CONFIG_INVALID", `Cannot listen on ${address}, port ${port}: ${error.message}`, details);
}
