import type { ProxySettings } from "./network.ts";

const DEFAULT_PORTS: Record<string, number> = { "http:": 80, "https:": 443 };

/** The proxy for requests to an origin, by the rules of undici's EnvHttpProxyAgent; undefined for none. */
export function proxyFor(origin: string, { httpProxy, httpsProxy, noProxy = "" }: ProxySettings): string | undefined {
  const { protocol, hostname, port } = new URL(origin);
  const chosen = protocol === "https:" ? httpsProxy || httpProxy : httpProxy;
  if (!chosen || isExempt(hostname.toLowerCase(), Number(port) || (DEFAULT_PORTS[protocol] ?? 0), noProxy)) {
    return undefined;
  }
  const text = chosen.includes("://") ? chosen : `http://${chosen}`;
  // Without user and password, because it is for error reports.
  return URL.canParse(text) ? `${new URL(text).protocol}//${new URL(text).host}` : undefined;
}

function isExempt(host: string, port: number, noProxy: string): boolean {
  if (noProxy === "*") return true;
  return noProxy
    .split(/[,\s]/)
    .filter((entry) => entry !== "")
    .some((entry) => {
      const [, name = entry, itsPort] = /^(.+):(\d+)$/.exec(entry) ?? [];
      const bare = name.replace(/^\*?\./, "").toLowerCase();
      return (itsPort === undefined || Number(itsPort) === port) && (host === bare || host.endsWith(`.${bare}`));
    });
}
