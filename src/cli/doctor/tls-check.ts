import { isIP } from "node:net";
import { connect as connectTls, rootCertificates, type PeerCertificate } from "node:tls";
import { messageOf } from "../../errors/nexus-error.ts";
import { FindingDraft, type Finding } from "./check.ts";
import { socketTo, type Target } from "./socket.ts";

const DAY_MS = 86_400_000;
const RENEW_DAYS = 14;

/** The certificate of a server. Nothing is sent, so an untrusted certificate can be examined. */
export async function tlsFinding({ host, port, signal }: Target, ca: readonly string[]): Promise<Finding> {
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
