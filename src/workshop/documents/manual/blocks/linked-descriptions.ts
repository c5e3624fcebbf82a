const MOST = 3;
/** An attribute or a member of a script whose value is an address. */
const ADDRESS = /\b(?:url|spec-?url|href|src|data-[\w-]+)["']?\s*[:=]\s*["']([^"'\s<>]{1,300})["']/gi;
const DESCRIPTION = /(?:openapi|swagger|api-?docs|postman|collection)[\w.-]*(?:\.(?:json|ya?ml))?(?:\?[^#]*)?$/i;
const DATA = /\.(?:json|ya?ml)(?:\?[^#]*)?$/i;
const OTHER = /\.(?:m?js|css|png|svg|ico|html?|woff2?|webmanifest)(?:[?#]|$)|manifest\.json/i;

/** The addresses that a page has of descriptions for programs, as documentation pages load them; the likely ones first. */
export function descriptionsIn(html: string, page = ""): string[] {
  const found = new Set<string>();
  for (const [, address = ""] of html.matchAll(ADDRESS)) {
    if (!OTHER.test(address) && (DATA.test(address) || DESCRIPTION.test(address))) found.add(absolute(address, page));
  }
  const isLikely = (address: string) => DESCRIPTION.test(address) && DATA.test(address);
  return [...found].toSorted((a, b) => Number(isLikely(b)) - Number(isLikely(a))).slice(0, MOST);
}

function absolute(address: string, page: string): string {
  const isPage = /^https?:\/\//i.test(page);
  return isPage && URL.canParse(address, page) ? new URL(address, page).href : address;
}
