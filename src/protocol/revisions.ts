/** The revisions of MCP and their two eras. */
export const LATEST = "2026-07-28";

export const LEGACY_REVISIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;
export const MODERN_REVISIONS = [LATEST] as const;

export type LegacyRevision = (typeof LEGACY_REVISIONS)[number];
export type ModernRevision = (typeof MODERN_REVISIONS)[number];
export type Revision = ModernRevision | LegacyRevision;

/** Legacy servers open with `initialize` and keep a session; modern ones are stateless. */
export type Era = "modern" | "legacy";

export function isModernRevision(version: unknown): version is ModernRevision {
  return MODERN_REVISIONS.some((known) => known === version);
}

export function isLegacyRevision(version: unknown): version is LegacyRevision {
  return LEGACY_REVISIONS.some((known) => known === version);
}

/** The newest revision of `known` that the other side also names. */
export function newestCommon<R extends Revision>(known: readonly R[], offered: readonly unknown[]): R | undefined {
  return known.find((revision) => offered.includes(revision));
}

/** Revisions are dates, so they are compared as text. */
export function atLeast(version: string, revision: Revision): boolean {
  return version >= revision;
}
