const MARK = "__base/";

/**
 * The address at which a replacement of the upstream serves another base: under a path of its own, so that requests to
 * different hosts stay apart.
 */
export function standInFor(standIn: string, base: string): string {
  const { host, pathname } = new URL(base);
  return `${standIn}${MARK}${host}${pathname}`;
}
