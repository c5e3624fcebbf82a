const ENTITIES: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", nbsp: " " };

/** The title of a body that is a web page; "" for a page without one, undefined for anything else. */
export function titleOfPage(body: string): string | undefined {
  if (!/^\s*(?:<!doctype html|<html|<head|<title|<body)/i.test(body)) return undefined;
  const [, title = ""] = /<title[^>]*>([^<]*)/i.exec(body) ?? [];
  return title
    .replaceAll(/&(#?\w+);/g, (entity, name: string) => ENTITIES[name] ?? entity)
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, 100);
}
