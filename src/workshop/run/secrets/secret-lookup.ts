/**
 * Finds a secret by its full name, `<server>.<name>`, for a request to an origin (`https://api.example`); throws
 * UNTRUSTED if it may not be sent there. Without an origin it is used only for masking.
 */
export type FindSecret = (name: string, origin?: string) => Promise<string | undefined>;
