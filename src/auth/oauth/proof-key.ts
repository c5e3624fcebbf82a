import { decodeJwt, exportJWK, importJWK, type JWK, SignJWT } from "jose";
import { type CryptoKeyPair, generateKeyPair } from "oauth4webapi";
import { encodeUtf8, toBase64Url } from "../../text/bytes.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import type { AuthorizedRequest, Refusal } from "../../transport/credential-source.ts";

const ALGORITHM = "ES256";

/** A key to which tokens are bound (DPoP, RFC 9449), and the proofs that requests with such a token need. */
export class ProofKey {
  readonly pair: CryptoKeyPair;
  readonly #publicJwk: JWK;
  /** The newest nonce of each origin. */
  readonly #nonces = new Map<string, string>();

  private constructor(pair: CryptoKeyPair, publicJwk: JWK) {
    this.pair = pair;
    this.#publicJwk = publicJwk;
  }

  static async create(): Promise<ProofKey> {
    const pair = await generateKeyPair(ALGORITHM, { extractable: true });
    return new ProofKey(pair, await exportJWK(pair.publicKey));
  }

  /** From what `export()` returned. */
  static async import(jwk: Readonly<Record<string, unknown>>): Promise<ProofKey> {
    const { kty, crv, x, y, d } = jwk as JWK;
    const publicJwk: JWK = { kty: kty ?? "", crv: crv ?? "", x: x ?? "", y: y ?? "" };
    try {
      const pair = {
        publicKey: await importKey(publicJwk),
        privateKey: await importKey({ ...publicJwk, d: d ?? "" }),
      };
      return new ProofKey(pair, publicJwk);
    } catch {
      // The platform's error says nothing more, and must not show the key.
      throw new NexusError("DATA_DAMAGED", "The stored key of the token cannot be read", {
        hint: "Log in again to replace it.",
        mayHaveReached: false,
      });
    }
  }

  /** The private key, for storage. */
  export(): Promise<Record<string, unknown>> {
    return exportJWK(this.pair.privateKey).then((jwk) => ({ ...jwk }));
  }

  /** The `DPoP` header of one request; every request needs a new one. */
  async sign({ method, url }: AuthorizedRequest, accessToken: string): Promise<string> {
    const { origin, pathname } = new URL(url);
    const nonce = this.#nonces.get(origin);
    return new SignJWT({
      htm: method,
      htu: `${origin}${pathname}`,
      ath: toBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", encodeUtf8(accessToken)))),
      ...(nonce !== undefined && { nonce }),
    })
      .setProtectedHeader({ alg: ALGORITHM, typ: "dpop+jwt", jwk: this.#publicJwk })
      .setJti(crypto.randomUUID())
      .setIssuedAt()
      .sign(this.pair.privateKey);
  }

  /** Remembers the nonce of a refusal. True if the proof that was sent had another one: then it helps to send again. */
  rememberNonce({ request: { url }, headers, sent }: Pick<Refusal, "request" | "headers" | "sent">): boolean {
    const nonce = headers["dpop-nonce"];
    if (typeof nonce !== "string") return false;
    this.#nonces.set(new URL(url).origin, nonce);
    const proof = sent["dpop"];
    return proof === undefined || decodeJwt(proof)["nonce"] !== nonce;
  }
}

async function importKey(jwk: JWK): Promise<CryptoKeyPair["publicKey"]> {
  const key = await importJWK(jwk, ALGORITHM, { extractable: true });
  if (key instanceof Uint8Array) throw new TypeError("not a key pair");
  return key;
}
