import { quoteUrl } from "../text/shell-words.ts";
import { maskUrl } from "../masking/mask-words.ts";
import type { NexusError } from "./nexus-error.ts";

/** Commands or addresses to try, in the syntax of the reader's system. */
export function thingsToTry({ code, details, cause }: NexusError, platform: NodeJS.Platform): string[] {
  const isWindows = platform === "win32";
  const { url } = details;
  if (code === "SERVER_EXITED" || code === "TIMEOUT") {
    const port = takenPort(details.stderr);
    if (port === undefined) return [];
    return [isWindows ? `netstat -ano | findstr :${port}` : `lsof -i :${port}`];
  }
  if (code === "CONNECTION_FAILED" && isAboutTrust(cause)) {
    return [isWindows ? "set NODE_EXTRA_CA_CERTS=C:\\certs\\ca.pem" : "export NODE_EXTRA_CA_CERTS=~/certs/ca.pem"];
  }
  if (code === "CONNECTION_FAILED" && url !== undefined) {
    return [`${isWindows ? "curl.exe" : "curl"} -v ${quoteUrl(maskUrl(url), platform)}`];
  }
  const isElsewhere = code === "HTTP_STATUS" && (details.status === 404 || details.status === 405);
  return isElsewhere || code === "NOT_MCP" ? usualEndpoints(url) : [];
}

function takenPort(stderr: readonly string[] = []): string | undefined {
  return /EADDRINUSE.*?:(\d{2,5})\b/.exec(stderr.join("\n"))?.[1];
}

/** Whether the certificate authority is unknown, which is the only certificate error that the reader can fix. */
function isAboutTrust(cause: unknown): boolean {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return /SELF_SIGNED|LEAF_SIGNATURE|ISSUER_CERT/.test(code);
}

/** Most servers answer at /mcp, older ones at /sse. Only the address: it may be for a file, an option or a program. */
function usualEndpoints(url: string | undefined): string[] {
  if (url === undefined || !URL.canParse(url)) return [];
  const usual = ["/mcp", "/sse"].map((path) => new URL(path, url).href);
  return usual.filter((each) => each !== url).map(maskUrl);
}
