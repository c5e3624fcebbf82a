import { checkSecretName } from "../../../auth/secret-name.ts";
import { notAllowed } from "../../../auth/secret-origins.ts";
import { NexusError } from "../../../errors/nexus-error.ts";
import { renderTemplate } from "../../expression/template.ts";
import type { HiddenValues } from "../../../masking/hidden-values.ts";

/**
 * Finds a secret by its full name, `<server>.<name>`, for a request to an origin (`https://api.example`); throws
 * UNTRUSTED if it may not be sent there. Without an origin it is used only for masking.
 */
export type FindSecret = (name: string, origin?: string) => Promise<string | undefined>;

/** The source of the secrets of one API. */
export interface SecretSource {
  /** The server's id. */
  server: string;
  find: FindSecret;
  hidden: HiddenValues;
}

/** What a secret is looked up for. */
export interface SecretPurpose {
  place?: "header" | "cookie";
  isToken?: boolean;
}

const NO_PURPOSE: SecretPurpose = {};

/** The secrets of one request. All that are missing or not allowed are reported together, at the end. */
export class SecretLookup {
  readonly #source: SecretSource;
  readonly #input: Record<string, unknown>;
  readonly #public: readonly string[];
  /** Undefined while all were found, as in most requests. */
  #missing: Set<string> | undefined;
  /** By origin. */
  #refused: Map<string, Set<string>> | undefined;

  constructor(source: SecretSource, input: Record<string, unknown>, publicNames: readonly string[]) {
    this.#source = source;
    this.#input = input;
    this.#public = publicNames;
  }

  /**
   * The value for a request to an origin, masked from now on; "" if there is none. `place`: it becomes a part of that.
   * `isToken`: it is replaced often.
   */
  get(written: string, origin: string, purpose: SecretPurpose = NO_PURPOSE): Promise<string> {
    const name = this.nameOf(written);
    checkSecretName(name);
    return this.#source.find(name, origin).then(
      (value) => {
        if (value === undefined || value === "") (this.#missing ??= new Set()).add(name);
        else if (purpose.isToken) this.#source.hidden.add([value]);
        else if (!this.#public.includes(written)) this.#source.hidden.hide(value);
        if (purpose.place !== undefined && value !== undefined) requireFitting(name, value, purpose.place);
        return value ?? "";
      },
      (error: unknown) => {
        if (!(error instanceof NexusError) || error.code !== "UNTRUSTED") throw error;
        this.#refused ??= new Map();
        this.#refused.set(origin, (this.#refused.get(origin) ?? new Set()).add(name));
        return "";
      },
    );
  }

  /** The full name, with the values of the input. */
  nameOf(written: string): string {
    return `${this.#source.server}.${renderTemplate(written, this.#input)}`;
  }

  throwIfIncomplete(): void {
    for (const [origin, names] of this.#refused ?? []) throw notAllowed([...names], origin);
    if (this.#missing) throw notSet([...this.#missing]);
  }
}

/** A cookie cannot have these characters (RFC 6265, section 4.1.1). */
function requireFitting(name: string, value: string, place: "header" | "cookie"): void {
  if (/[^\x20-\x7e]/.test(value)) throw unfit(name, "header");
  if (place === "cookie" && /[ ",;\\]/.test(value)) throw unfit(name, place);
}

/** The usual cause is the line break at the end of a copied file. */
function unfit(name: string, place: string): NexusError {
  return new NexusError(
    "AUTH_REQUIRED",
    `The secret ${name} holds a line break or another character that a ${place} cannot hold, so nothing was sent`,
    { hint: `The operator of this server has to run: nexus secrets set ${name}`, mayHaveReached: false },
  );
}

function notSet(names: string[]): NexusError {
  const message =
    names.length === 1
      ? `The secret ${names[0]} is not set, so nothing was sent`
      : `The secrets ${names.join(", ")} are not set, so nothing was sent`;
  return new NexusError("AUTH_REQUIRED", message, {
    hint: `The operator of this server has to run: ${names.map((name) => `nexus secrets set ${name}`).join(", ")}`,
    mayHaveReached: false,
  });
}
