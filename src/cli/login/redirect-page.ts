const STYLE = "font:18px/1.5 system-ui,sans-serif;max-width:32em;margin:20vh auto;padding:0 1em";

/** The headers of every answer to the browser: the address contains a code, so nothing keeps it or learns it. */
export const PAGE_HEADERS = {
  "cache-control": "no-store",
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  connection: "close",
} as const;

/** A page of one sentence, without scripts. The text is ours. */
export function redirectPage(text: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>Nexus</title><body style="${STYLE}"><p>${text}</p></body></html>\n`;
}
