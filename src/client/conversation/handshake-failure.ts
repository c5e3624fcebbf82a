import { causeOfListening, type Diagnosis } from "../../errors/likely-cause.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { shorten } from "../../text/shorten.ts";
import { visible } from "../../text/visible.ts";
import { messageForStatus } from "../../transport/refusal.ts";
import type { Transport } from "../../transport/transport.ts";
import type { Peer } from "./peer.ts";

export interface FailedHandshake {
  /** The connections that were opened, in order. */
  peers: readonly Peer[];
  target: Transport["target"];
  /** The methods that were sent, in order. */
  sent: readonly string[];
}

/** The error of a failed handshake with what is known about the server. */
export function explainHandshake(thrown: NexusError, { peers, target, sent }: FailedHandshake): NexusError {
  const peer = peers.at(-1);
  if (!peer) return thrown.with(target);
  // A server that was started twice may have written its reason the first time.
  const error = peers.reduceRight((described, each) => each.describe(described), asWrongEndpoint(thrown));
  if (!IS_ABOUT_SILENCE.has(error.code)) return error;
  const [noise] = peer.noise;
  if (noise !== undefined) {
    const { code, message, details } = withNoise(error, noise, peer);
    return new NexusError(code, message, { ...details, raw: peer.noise, sent, received: receivedBy(peer) });
  }
  return error.code === "TIMEOUT" ? error.amended({ sent, received: receivedBy(peer), ...silence(peer) }) : error;
}

/** Whether the process has finished its work, and that work was not to be a server. */
export function isOrdinaryProgram({ code, details }: NexusError, { noise, received }: Peer): boolean {
  return code === "SERVER_EXITED" && details.exitCode === 0 && noise.length > 0 && received.messages === 0;
}

/** Failures without an answer; other texts that came instead may be the reason. */
const IS_ABOUT_SILENCE: ReadonlySet<string> = new Set(["TIMEOUT", "SERVER_EXITED", "CONNECTION_LOST"]);
const MAX_NOISE_LENGTH = 100;

/** Some sites send these statuses with a JSON-RPC error, but nothing has been agreed that it could be about. */
function asWrongEndpoint(error: NexusError): NexusError {
  const { status, rpc } = error.details;
  if (error.code !== "SERVER_ERROR" || (status !== 404 && status !== 405)) return error;
  return new NexusError("HTTP_STATUS", messageForStatus(status), { ...error.details, answer: rpc?.message });
}

function withNoise(error: NexusError, noise: string, peer: Peer): NexusError {
  const excerpt = shorten(visible(noise.trim()), MAX_NOISE_LENGTH);
  const message = `${error.message.replace(/\.$/, "")}. The server ${peer.verb} text that is not JSON-RPC: "${excerpt}"`;
  return new NexusError(error.code, message, diagnosed(error, noise, peer).details);
}

function diagnosed(error: NexusError, noise: string, { kind, noise: all, child }: Peer): NexusError {
  if (kind !== "stdio") return error;
  const listening = causeOfListening([...all, ...(child?.stderr() ?? [])]);
  if (listening) return error.amended(listening);
  // What a server wrote to stderr before it exited says more.
  if (error.details.likelyCause !== undefined) return error;
  const hint = "Check that the command starts an MCP server, and directly. Servers must log to stderr, not to stdout.";
  const likelyCause = /^Content-Length:/i.test(noise)
    ? "The server frames messages like a language server. MCP requires one JSON message per line."
    : undefined;
  return error.amended({ hint, likelyCause });
}

function receivedBy({ noise, received: { messages } }: Peer): string {
  const heard = messages === 0 ? "no message" : counted(messages, "message");
  return noise.length === 0 ? heard : `${heard}, ${counted(noise.length, "line")} of other text`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}

/** The diagnosis if no usable answer came in time. */
function silence({ kind, child }: Peer): Diagnosis {
  if (kind !== "stdio") {
    return {
      likelyCause: "The server is overloaded or hangs, or a proxy delays the answer.",
      hint: `Check the server's log, or raise "connection_timeout".`,
    };
  }
  const listening = causeOfListening(child?.stderr() ?? []);
  if (listening) return listening;
  return {
    likelyCause: child?.stderr().length
      ? "The server started and is still busy with what stderr shows, or it waits for something."
      : "The command does not start an MCP server, is still downloading it, or waits for a terminal.",
    hint: `Run the command in a terminal: a server waits silently for input. For a slow server, raise "connection_timeout".`,
  };
}
