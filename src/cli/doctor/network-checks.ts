import { lookup } from "node:dns/promises";
import { connect as connectSocket, isIP, type Socket } from "node:net";
import { messageOf } from "../../errors/nexus-error.ts";
import { proxyFor } from "../../net/proxy-choice.ts";
import type { Surroundings } from "../../transport/surroundings.ts";
import { ok, skipped, worst, type CheckId, type Finding, FindingDraft } from "./check.ts";
import { connect as connectTls, rootCertificates, type PeerCertificate } from "node:tls";

interface NetworkTarget {
  url: URL;
  surroundings: Surroundings;
  /** Additional trusted certificate authorities (PEM). */
  ca: readonly string[];
  timeoutMs: number;
  signal: AbortSignal;
}

const DEFAULT_PORTS: Record<string, number> = { "http:": 80, "https:": 443 };

/** Checks the way to a server step by step: a failed step is a warning until connecting fails. */
export async function networkFindings({
  url,
  surroundings,
  ca,
  timeoutMs,
  signal,
}: NetworkTarget): Promise<Map<CheckId, Finding>> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  const { proxy, finding } = proxyFinding(url, surroundings);
  const steps = await reachFindings({ host: hostOf(proxy ?? url), port: portOf(proxy ?? url), signal: bounded });
  signal.throwIfAborted();
  if (proxy) {
    // Only the proxy can be checked from here.
    const verdict = worst([steps.dns.verdict, steps.tcp.verdict]);
    const evidence = [...finding.evidence, ...steps.dns.evidence, ...steps.tcp.evidence];
    const behind = skipped("done by the proxy");
    return new Map([
      ["proxy", { verdict, evidence }],
      ...(["dns", "tcp", "tls"] as const).map((id) => [id, behind] as const),
    ]);
  }
  const isThere = steps.tcp.verdict === "ok";
  const target = { host: hostOf(url), port: portOf(url), signal: bounded };
  const tls =
    url.protocol === "https:"
      ? isThere
        ? await tlsFinding(target, ca.length > 0 ? [...surroundings.extraCertificates, ...ca] : [])
        : skipped("no connection")
      : skipped("plain http: other parties in the network can read the data");
  return new Map(Object.entries({ proxy: finding, ...steps, tls }) as [CheckId, Finding][]);
}

async function reachFindings(target: Target): Promise<{ dns: Finding; tcp: Finding }> {
  const dns = await dnsFinding(target);
  return { dns, tcp: dns.verdict === "ok" ? await tcpFinding(target) : skipped("its host name could not be resolved") };
}

function proxyFinding(url: URL, { proxy: settings }: Surroundings): { proxy?: URL; finding: Finding } {
  const { httpProxy, httpsProxy, noProxy } = settings;
  const proxy = proxyFor(url.origin, settings);
  if (proxy !== undefined) return { proxy: new URL(proxy), finding: ok(`${proxy} (HTTP_PROXY, HTTPS_PROXY)`) };
  const chosen = url.protocol === "https:" ? httpsProxy || httpProxy : httpProxy;
  if (!chosen) return { finding: ok("none") };
  const text = chosen.includes("://") ? chosen : `http://${chosen}`;
  if (URL.canParse(text)) return { finding: ok(`none for this host (NO_PROXY is ${noProxy})`) };
  return {
    finding: {
      verdict: "warning",
      evidence: ["the proxy variable is not an address"],
      advice: [`Set HTTP_PROXY and HTTPS_PROXY to a value like "http://proxy.example:3128", or unset them.`],
    },
  };
}

async function dnsFinding({ host, signal }: Target): Promise<Finding> {
  if (isIP(host)) return ok(`${host} is an address`);
  const startedAt = performance.now();
  try {
    const addresses = await withSignal(lookup(host, { all: true }), signal);
    return ok(`${host} is ${addresses.map(({ address }) => address).join(", ")}, ${elapsedSince(startedAt)}`);
  } catch (error) {
    return { verdict: "warning", evidence: [`${host}: ${messageOf(error)}`] };
  }
}

async function tcpFinding({ host, port, signal }: Target): Promise<Finding> {
  const startedAt = performance.now();
  try {
    const socket = await socketTo(() => connectSocket({ host, port }), "connect", signal);
    const { remoteAddress = host } = socket;
    socket.destroy();
    return ok(`${remoteAddress} port ${port} accepts connections, ${elapsedSince(startedAt)}`);
  } catch (error) {
    // If several addresses were tried, Node's own message is empty.
    const codes = error instanceof AggregateError ? error.errors.map(messageOf).join("; ") : messageOf(error);
    return { verdict: "warning", evidence: [`${host} port ${port}: ${codes}`] };
  }
}

/** The system's resolver cannot be cancelled; its result is ignored. */
function withSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new Error("no answer in time"));
    if (signal.aborted) giveUp();
    signal.addEventListener("abort", giveUp, { once: true });
    work.then(resolve, reject);
  });
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

function portOf({ port, protocol }: URL): number {
  return Number(port) || (DEFAULT_PORTS[protocol] ?? 0);
}

const DAY_MS = 86_400_000;
const RENEW_DAYS = 14;

/** The certificate of a server. Nothing is sent, so an untrusted certificate can be examined. */
async function tlsFinding({ host, port, signal }: Target, ca: readonly string[]): Promise<Finding> {
  const servername = isIP(host) ? {} : { servername: host };
  const trusted = ca.length > 0 ? { ca: [...rootCertificates, ...ca] } : {};
  try {
    const open = () => connectTls({ host, port, ...servername, ...trusted, rejectUnauthorized: false });
    const socket = await socketTo(open, "secureConnect", signal);
    const certificate = socket.getPeerCertificate();
    const protocol = socket.getProtocol() ?? "TLS";
    const mistrust = socket.authorized ? undefined : String(socket.authorizationError);
    socket.destroy();
    return certificateFinding(certificate, { protocol, mistrust, now: Date.now() });
  } catch (error) {
    return { verdict: "warning", evidence: [`no TLS: ${messageOf(error)}`] };
  }
}

interface Shown {
  protocol: string;
  /** Why it is not trusted. */
  mistrust: string | undefined;
  now: number;
}

export function certificateFinding(
  { subject, issuer, valid_to: until, subjectaltname: names }: Partial<PeerCertificate>,
  { protocol, mistrust, now }: Shown,
): Finding {
  const days = Math.floor((Date.parse(until ?? "") - now) / DAY_MS);
  const draft = new FindingDraft();
  const who = `for ${nameOf(subject)}${names ? ` (${names})` : ""}, by ${nameOf(issuer)}`;
  if (mistrust !== undefined) draft.add("warning", `not trusted: ${mistrust}`);
  draft.add("ok", `${protocol}, ${who}`);
  if (Number.isNaN(days)) return draft.finding();
  if (days < 0) return draft.add("warning", `expired on ${until}`, "Ask the server's operator to renew it.").finding();
  if (days >= RENEW_DAYS) return draft.add("ok", `valid until ${until}, ${days} days`).finding();
  const left = days === 0 ? "less than a day" : `${days} ${days === 1 ? "day" : "days"}`;
  return draft
    .add(
      "warning",
      `expires on ${until}, in ${left}`,
      "Ask the server's operator to renew the certificate before that date.",
    )
    .finding();
}

function nameOf(party: Partial<PeerCertificate>["subject"]): string {
  // A repeated field is a list, although the types do not say so.
  const name: unknown = party?.CN ?? party?.O;
  return Array.isArray(name) ? name.join(", ") : typeof name === "string" ? name : "unnamed";
}

interface Target {
  host: string;
  port: number;
  signal: AbortSignal;
}

/** Opens a socket and waits for its event or the signal. */
function socketTo<S extends Socket>(open: () => S, event: string, signal: AbortSignal): Promise<S> {
  return new Promise((resolve, reject) => {
    const socket = open();
    const giveUp = () => {
      socket.destroy();
      reject(new Error("no answer in time"));
    };
    socket.once("error", reject);
    socket.once(event, () => {
      signal.removeEventListener("abort", giveUp);
      resolve(socket);
    });
    if (signal.aborted) giveUp();
    else signal.addEventListener("abort", giveUp, { once: true });
  });
}

/** How long something took, for people. */
function elapsedSince(startedAt: number): string {
  return `${Math.round((performance.now() - startedAt) * 10) / 10} ms`;
}
