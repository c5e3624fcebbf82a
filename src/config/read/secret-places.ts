/**
 * Says by the keys that lead to a text whether it may have a secret. `after-host`: in an address, in its path and its
 * query.
 */
export type SecretPlaces = (path: readonly string[]) => "anywhere" | "after-host" | "nowhere";
