/** An address without a path, as `https://api.example:8443`, in the form that browsers write; undefined where it is none. */
export function parseWebOrigin(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname, href, origin } = new URL(text);
  // A pattern would be a name that no address has, and look as if it were more.
  const isOrigin = /^https?:$/.test(protocol) && !hostname.includes("*") && href === `${origin}/`;
  return isOrigin ? origin : undefined;
}
