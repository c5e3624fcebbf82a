import { checkOptions, type OptionNames } from "../../errors/check-options.ts";
import { callListener } from "../../async/call-listener.ts";
import type { Message } from "../../protocol/json-rpc.ts";
import { safeLogger, type Logger } from "../../text/logger.ts";
import type { Servable } from "../core/core.ts";
import { servedCore } from "../core/served-core.ts";
import { ANYBODY, type Principal } from "../core/principal.ts";
import { STDERR_LOGGER } from "../core/stderr-logger.ts";
import { DuplexConversation } from "../legacy/duplex-conversation.ts";
import type { RequestChannel } from "../legacy/request-channel.ts";

/** The server's end of a connection within this process. */
export interface MemoryEnd {
  onMessage: (message: Message) => void;
  send(message: Message): void;
  readonly closed: Promise<void>;
}

export interface ServeMemoryOptions {
  /** Who calls; default: one anonymous caller. */
  principal?: Principal | undefined;
  /** Hears what failed where the client is not told the reason; default: one line on stderr. */
  logger?: Logger | undefined;
}

const OPTIONS: OptionNames<ServeMemoryOptions> = { principal: true, logger: true };

/** Serves one client in the same process, in the era of each of its messages, until it leaves. */
export function serveMemory(server: Servable, end: MemoryEnd, options: ServeMemoryOptions = {}): void {
  const core = servedCore("serveMemory", server);
  checkOptions("serveMemory", options, OPTIONS);
  const { principal = ANYBODY } = options;
  const logger = safeLogger(options.logger ?? STDERR_LOGGER);
  const outside = (message: Message) => end.send(message);
  const conversation = new DuplexConversation({ core, principal, logger, outside });
  // Everything goes to the same client at once, whatever it belongs to.
  const channel: RequestChannel = {
    canStream: true,
    isInProcess: true,
    send: (message) => {
      end.send(message);
      return true;
    },
    finish: (answer) => {
      if (answer) end.send(answer);
    },
  };
  end.onMessage = (message) => conversation.receive(message, () => channel);
  void end.closed.then(() => callListener(() => conversation.close(), logger));
}
