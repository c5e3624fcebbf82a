import { NexusError, type ErrorDetails } from "../../errors/nexus-error.ts";
import {
  isLegacyRevision,
  isModernRevision,
  MODERN_REVISIONS,
  LEGACY_REVISIONS,
  type Era,
  type Revision,
} from "../../protocol/revisions.ts";
import {
  discover,
  initialize,
  listsToolsTheModernWay,
  withScope,
  type Agreement,
  type Discovery,
  type Introduction,
} from "./handshake.ts";
import type { Transport } from "../../transport/transport.ts";
import type { Peer } from "./peer.ts";
import { retryDelayMs, type RetrySettings } from "./retry.ts";
import { shorten } from "../../text/shorten.ts";
import { visible } from "../../text/visible.ts";
import { messageForStatus } from "../../transport/refusal.ts";

/** How the era of the server was detected, for reports and for remembering it. */
export interface Verdict {
  era: Era;
  how: "pinned" | "given" | "probed";
  /** The era to remember; absent if this connection proves nothing. */
  remember?: Era;
}

interface NegotiateOptions {
  transport: Transport;
  /** Opens a connection. Called again only if a child process exited at the probe, or for the transport's fallback. */
  open: (way: Transport) => Promise<Peer>;
  introduction: Introduction;
  /** A revision to use without detection. */
  pinned?: string | undefined;
  /** The era from an earlier connection. */
  era?: Era | undefined;
  probeMs: number;
  retry: RetrySettings;
}

export interface Negotiated {
  peer: Peer;
  agreement: Agreement;
  verdict: Verdict;
}

/** Connects and detects the era and revision of the server. */
export async function negotiate(options: NegotiateOptions): Promise<Negotiated> {
  const opened: Peer[] = [];
  const open = async (way: Transport) => {
    const peer = await options.open(way);
    opened.push(peer);
    return peer;
  };
  const sent: string[] = [];
  const introduction: Introduction = { ...options.introduction, onSent: (method) => sent.push(method) };
  try {
    const negotiated = await agree({ ...options, introduction, open });
    await Promise.all(opened.filter((peer) => peer !== negotiated.peer).map((peer) => peer.close()));
    return negotiated;
  } catch (error) {
    const { target } = options.transport;
    const described = error instanceof NexusError ? explainHandshake(error, { peers: opened, target, sent }) : error;
    await Promise.all(opened.map((peer) => peer.close()));
    throw described;
  }
}

async function agree(options: NegotiateOptions): Promise<Negotiated> {
  const { pinned, era, introduction } = options;
  if (pinned !== undefined && !isModernRevision(pinned) && !isLegacyRevision(pinned)) {
    const known = [...MODERN_REVISIONS, ...LEGACY_REVISIONS].join(", ");
    throw new NexusError("VERSION_UNSUPPORTED", `The protocol version ${pinned} is unknown`, {
      phase: "config",
      hint: `Use one of ${known}.`,
      mayHaveReached: false,
    });
  }
  const peer = await options.open(options.transport);
  if (pinned !== undefined) return agreeOnPinned(peer, pinned, options);
  if (era === "legacy") return { ...(await orFallBack(options, peer, initialize)), verdict: { era, how: "given" } };
  if (era === "modern") return agreeOnGivenModern(peer, options);
  // The transport of 2024-11-05 has no modern revision.
  if (peer.kind === "sse") return probed(peer, await initialize(peer, introduction));
  return peer.kind === "http" ? agreeOverHttp(peer, options) : agreeOverPipe(peer, options);
}

async function agreeOnPinned(peer: Peer, version: Revision, options: NegotiateOptions): Promise<Negotiated> {
  if (isModernRevision(version)) {
    return { peer, agreement: { era: "modern", version }, verdict: { era: "modern", how: "pinned" } };
  }
  const reached = await orFallBack(options, peer, (way, introduction) => initialize(way, introduction, version));
  const spoken = reached.agreement.version;
  if (spoken !== version) {
    throw new NexusError("VERSION_UNSUPPORTED", `The server supports ${spoken}, not ${version}`, {
      phase: "handshake",
      hint: `Remove "protocolVersion" to negotiate it, or set it to "${spoken}".`,
    });
  }
  return { ...reached, verdict: { era: "legacy", how: "pinned" } };
}

/** A remembered "modern" that is no longer true fails; the host then detects the era again. */
async function agreeOnGivenModern(peer: Peer, options: NegotiateOptions): Promise<Negotiated> {
  const found = await discoverPatiently(peer, options);
  if (found.kind === "modern") return { peer, agreement: found.agreement, verdict: { era: "modern", how: "given" } };
  if (found.kind !== "legacy-only") throw found.error;
  throw new NexusError("VERSION_UNSUPPORTED", "The server no longer supports a modern revision", {
    phase: "handshake",
    hint: `Connect without "era". The remembered era is out of date.`,
  });
}

async function agreeOverHttp(peer: Peer, options: NegotiateOptions): Promise<Negotiated> {
  const { introduction } = options;
  const found = await discoverPatiently(peer, options);
  switch (found.kind) {
    case "modern":
      return probed(peer, found.agreement);
    case "legacy-only":
      return probed(peer, await initialize(peer, introduction, found.version));
    case "not-modern":
      return reached(await orFallBack(options, peer, (way, who) => initializeOrListTools(way, who, found)));
    case "no-evidence": {
      const { status, rpc } = found.error.details;
      if (status !== 500 || !rpc) throw found.error;
      // Some old servers give this answer to unknown methods. It proves nothing, so it is not remembered.
      return { peer, agreement: await initialize(peer, introduction), verdict: { era: "legacy", how: "probed" } };
    }
  }
}

/** The probe can be repeated safely: a temporary failure is waited out before anything is concluded. */
async function discoverPatiently(peer: Peer, { introduction, retry }: NegotiateOptions): Promise<Discovery> {
  for (let tries = 1; ; tries++) {
    const found = await discover(peer, introduction, `nexus-probe-${tries}`);
    if (found.kind !== "no-evidence") return found;
    const { status, rpc } = found.error.details;
    if (status === 500 && rpc) return found;
    const delayMs = retryDelayMs(found.error, { method: "server/discover", tries, harmlessTool: false }, retry);
    if (delayMs === undefined || performance.now() + delayMs > introduction.deadline) return found;
    await withScope(introduction, "server/discover", (scope) => scope.sleep(delayMs));
  }
}

async function agreeOverPipe(peer: Peer, options: NegotiateOptions): Promise<Negotiated> {
  const { introduction } = options;
  const probe = discover(peer, introduction, "nexus-probe-1");
  const silence = new Silence(peer, options.probeMs);
  const found = await Promise.race([probe, silence.tooLong]);
  silence.cancel();
  if (found === "silence") return initializeWhileProbing(peer, probe, options);
  switch (found.kind) {
    case "modern":
      return probed(peer, found.agreement);
    case "legacy-only":
      return probed(peer, await initialize(peer, introduction, found.version));
    case "not-modern":
      return probed(peer, await initializeOrListTools(peer, introduction, found));
    case "no-evidence": {
      if (found.error.code !== "SERVER_EXITED" || isOrdinaryProgram(found.error, peer)) throw found.error;
      return startAnew(options, found.error);
    }
  }
}

/**
 * Notices when a child process has been silent for too long. Output on stderr shows that it is starting and restarts
 * the wait.
 */
class Silence {
  readonly tooLong: Promise<"silence">;
  #timer: NodeJS.Timeout | undefined;

  constructor(peer: Peer, probeMs: number) {
    let isStarting = false;
    void peer.child?.firstStderr.then(() => (isStarting = true));
    this.tooLong = new Promise((resolve) => {
      const giveUp = () => resolve("silence");
      this.#timer = setTimeout(() => {
        if (isStarting) this.#timer = setTimeout(giveUp, probeMs);
        else giveUp();
      }, probeMs);
    });
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }
}

/** Some servers exit on any request before `initialize`: a new process gets `initialize` first. */
async function startAnew({ open, transport, introduction }: NegotiateOptions, exit: NexusError): Promise<Negotiated> {
  const fresh = await open(transport);
  try {
    return probed(fresh, await initialize(fresh, introduction));
  } catch (error) {
    // The time is that of both starts: on a busy machine too little is left for the second one to fail as well.
    throw error instanceof NexusError && error.code === "TIMEOUT" ? exit : error;
  }
}

/**
 * Sends `initialize` while the probe is unanswered. If its answer still comes, it decides what `initialize` leaves
 * open.
 */
async function initializeWhileProbing(
  peer: Peer,
  probe: Promise<Discovery>,
  options: NegotiateOptions,
): Promise<Negotiated> {
  const { introduction } = options;
  try {
    const negotiated = probed(peer, await initialize(peer, introduction));
    void probe.then((late) => {
      if (late.kind === "modern") negotiated.verdict.remember = "modern";
    });
    return negotiated;
  } catch (error) {
    // A slow process that exits because of the probe does so only now.
    const isGone = error instanceof NexusError && error.code === "SERVER_EXITED";
    if (isGone && !isOrdinaryProgram(error, peer)) return startAnew(options, error);
    if (!wasRefused(error)) throw error;
    const late = await Promise.race([probe, discover(peer, introduction, "nexus-probe-2")]);
    if (late.kind === "modern") return probed(peer, late.agreement);
    const agreement = await listsToolsTheModernWay(peer, introduction);
    if (agreement) return probed(peer, agreement);
    throw refusedBothWays(error, late);
  }
}

/** The statuses with which a server of 2024-11-05 refuses a POST. */
const NO_POST_HERE = new Set([400, 404, 405]);

type Handshake = (peer: Peer, introduction: Introduction) => Promise<Agreement>;

/** Runs the handshake over HTTP. If the server takes no POST, uses the transport of 2024-11-05. */
async function orFallBack(
  { transport, open, introduction }: NegotiateOptions,
  peer: Peer,
  handshake: Handshake,
): Promise<{ peer: Peer; agreement: Agreement }> {
  try {
    return { peer, agreement: await handshake(peer, introduction) };
  } catch (error) {
    const status = error instanceof NexusError ? error.details.status : undefined;
    if (!transport.fallback || status === undefined || !NO_POST_HERE.has(status)) throw error;
    await peer.close();
    const other = await open(transport.fallback).catch(() => undefined);
    if (!other) throw error;
    return { peer: other, agreement: await initialize(other, introduction) };
  }
}

/** Tries legacy first; modern servers without `server/discover` refuse `initialize` as well. */
async function initializeOrListTools(peer: Peer, introduction: Introduction, found: Discovery): Promise<Agreement> {
  try {
    return await initialize(peer, introduction);
  } catch (error) {
    if (!wasRefused(error)) throw error;
    const agreement = await listsToolsTheModernWay(peer, introduction);
    if (!agreement) throw refusedBothWays(error, found);
    return agreement;
  }
}

/** The answers to both attempts, for finding the cause. */
function refusedBothWays(error: NexusError, found: Discovery): NexusError {
  if (!("error" in found)) return error;
  return error.with({ hint: `The server rejected both eras. Its answer to server/discover: ${found.error.message}` });
}

/** Whether the server answered with a refusal. */
function wasRefused(error: unknown): error is NexusError {
  if (!(error instanceof NexusError)) return false;
  const { status } = error.details;
  return error.code === "SERVER_ERROR" || (error.code === "HTTP_STATUS" && status !== undefined && status < 500);
}

function reached({ peer, agreement }: { peer: Peer; agreement: Agreement }): Negotiated {
  return probed(peer, agreement);
}

function probed(peer: Peer, agreement: Agreement): Negotiated {
  return { peer, agreement, verdict: { era: agreement.era, how: "probed", remember: agreement.era } };
}

interface FailedHandshake {
  /** The connections that were opened, in order. */
  peers: readonly Peer[];
  target: Transport["target"];
  /** The methods that were sent, in order. */
  sent: readonly string[];
}

/** The error of a failed handshake with what is known about the server. */
function explainHandshake(thrown: NexusError, { peers, target, sent }: FailedHandshake): NexusError {
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
function isOrdinaryProgram({ code, details }: NexusError, { noise, received }: Peer): boolean {
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
  const listening = child?.causeOfListening?.([...all, ...child.stderr()]);
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
function silence({ kind, child }: Peer): Pick<ErrorDetails, "likelyCause" | "hint"> {
  if (kind !== "stdio") {
    return {
      likelyCause: "The server is overloaded or hangs, or a proxy delays the answer.",
      hint: `Check the server's log, or raise "connection_timeout".`,
    };
  }
  const listening = child?.causeOfListening?.(child.stderr());
  if (listening) return listening;
  return {
    likelyCause: child?.stderr().length
      ? "The server started and is still busy with what stderr shows, or it waits for something."
      : "The command does not start an MCP server, is still downloading it, or waits for a terminal.",
    hint: `Run the command in a terminal: a server waits silently for input. For a slow server, raise "connection_timeout".`,
  };
}
