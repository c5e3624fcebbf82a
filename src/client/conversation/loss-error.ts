import { lastWords } from "../../errors/last-words.ts";
import { likelyCauseOfExit } from "../../errors/likely-cause.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { CloseReason } from "../../transport/transport.ts";

const STRAY_PIPE =
  "Check that the command starts the server directly. A server must keep stdin and stdout open for messages.";

/** Why a connection that was lost can no longer be used. */
export function lossError(reason: CloseReason, stderr: readonly string[]): NexusError {
  switch (reason.kind) {
    case "closed":
      return new NexusError("CLOSED", "The connection was closed");
    case "stream-ended":
      return (
        reason.error ??
        new NexusError("CONNECTION_LOST", "The server ended the stream that carries its answers", {
          hint: "Connect again. If it happens often, check the server's log and the proxies between here and the server.",
        })
      );
    case "stdin-closed":
      return new NexusError("CONNECTION_LOST", "The server closed its stdin and can no longer receive requests", {
        hint: STRAY_PIPE,
      });
    case "stdout-closed":
      return new NexusError("CONNECTION_LOST", "The server closed its stdout and can no longer answer", {
        hint: STRAY_PIPE,
      });
    case "exited": {
      const { exitCode, signal, killedBecause } = reason;
      if (killedBecause !== undefined) return killed(killedBecause);
      const how = signal ? `was terminated by ${signal}` : `exited with code ${exitCode ?? "unknown"}`;
      const words = lastWords(stderr);
      return new NexusError("SERVER_EXITED", `The server ${how}${words ? `: ${words}` : ""}`, {
        exitCode,
        signal,
        ...likelyCauseOfExit({ exitCode, signal, stderr }),
      });
    }
  }
}

function killed(reason: string): NexusError {
  return new NexusError("SERVER_EXITED", `The server was stopped: ${reason}`, {
    hint: "Ask it for less at once, or raise its memory limit.",
  });
}
