/**
 * What a new version means for its callers. `breaking`: a call that was valid may be refused or mean something else, or a
 * result lost something. `widened`: more is possible, and old calls mean the same. `wording`: only texts and documents.
 */
export type VersionChangeKind = "breaking" | "widened" | "wording" | "none";

const NUMBER = /^(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})\.(0|[1-9]\d{0,8})$/;

/** `MAJOR.MINOR.PATCH`, without labels such as `-beta`. */
export function isVersionNumber(text: string): boolean {
  return NUMBER.test(text);
}

/** Negative if `a` is lower. Texts that are not version numbers are lower than all others. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)];
  return left[0] - right[0] || left[1] - right[1] || left[2] - right[2];
}

export function majorOf(version: string): number {
  return partsOf(version)[0];
}

/** The lowest number that a version with this kind of change may have. */
export function nextVersion(before: string, kind: VersionChangeKind): string {
  const [major, minor, patch] = partsOf(before);
  if (kind === "breaking") return `${major + 1}.0.0`;
  return kind === "widened" ? `${major}.${minor + 1}.0` : `${major}.${minor}.${patch + 1}`;
}

function partsOf(version: string): [major: number, minor: number, patch: number] {
  const [, major, minor, patch] = NUMBER.exec(version) ?? [];
  return major === undefined ? [-1, -1, -1] : [Number(major), Number(minor), Number(patch)];
}
