/** The options of a login for these scopes. A server names them, and people copy the line into a shell. */
export function scopeOptions(scopes: readonly string[]): string {
  const isSafe = scopes.every((scope) => /^[\w:./-]+$/.test(scope) && !scope.startsWith("-"));
  return isSafe ? scopes.map((scope) => ` --scope ${scope}`).join("") : "";
}
