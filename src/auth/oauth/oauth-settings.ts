import type { OAuthGrant } from "../../transport/entry-form.ts";

/** What is configured about the authorization to a server: the entry's `oauth` key, or options of a program. */
export interface OAuthSettings {
  /** Default: authorization_code. */
  grant?: OAuthGrant | undefined;
  /** A client that was registered by hand. */
  clientId?: string | undefined;
  clientSecret?: string | undefined;
  /** For private_key_jwt: a PKCS #8 key (PEM) and its algorithm, for example ES256. */
  privateKey?: string | undefined;
  signingAlgorithm?: string | undefined;
  keyId?: string | undefined;
  /** The issuer to use, at which the client was registered by hand. Nothing is sent to another one. */
  issuer?: string | undefined;
  /** The URL of a client id metadata document. */
  clientMetadataUrl?: string | undefined;
  /** The client's name, for registration; default: Nexus. */
  clientName?: string | undefined;
  /** Scopes to ask for, instead of those that the server names. */
  scopes?: readonly string[] | undefined;
  /** The redirect URI, or only its port on the loopback interface; default: a free port. */
  redirectUrl?: string | undefined;
  callbackPort?: number | undefined;
  /** For jwt_bearer: the assertion, or a function that fetches one for this audience. */
  assertion?: string | ((audience: string) => Promise<string>) | undefined;
  /** For enterprise: the identity provider that exchanges its ID token for an ID-JAG. */
  identityProvider?: IdentityProvider | undefined;
  /** Binds tokens to a key of this client (RFC 9449); default: where the server requires it. */
  dpop?: boolean | undefined;
}

export interface IdentityProvider {
  issuer: string;
  /** Default: from the issuer's metadata. */
  tokenEndpoint?: string | undefined;
  clientId: string;
  clientSecret?: string | undefined;
  idToken: string | (() => Promise<string>);
}
