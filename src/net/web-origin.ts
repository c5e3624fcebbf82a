/**
 * An address without a path, such as `https://api.example:8443`, in the form that browsers use; undefined if it is
 * invalid.
 */
export function parseWebOrigin(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { protocol, hostname, href, origin } = new URL(text);
  // A wildcard would match no address, but look as if it matched several.
  const isOrigin = /^https?:$/.test(protocol) && !hostname.includes("*") && href === `${origin}/`;
  return isOrigin ? origin : undefined;
}
