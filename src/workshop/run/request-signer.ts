import { NexusError } from "../../errors/nexus-error.ts";
import type { SecretsSpec } from "../file/model/tool-file.ts";
import type { Credentials } from "./secrets/credentials.ts";
import type { RunnerParts, Signer } from "./runner-parts.ts";
import { signedHeaders } from "./signing/built-in-signer.ts";

/** The signer of a request: a built-in one, or one that the program provides. Its failures say that nothing was sent. */
export function signerFor(
  { signers, settings, now }: RunnerParts,
  spec: SecretsSpec["sign"],
  { signing }: Credentials,
): Signer | undefined {
  if (spec === undefined) return undefined;
  const values = { secret: (name: string) => signing.get(name) ?? "", settings };
  const signer: Signer | undefined =
    typeof spec === "string"
      ? signers[spec]
      : (request) => ({ ...request, headers: signedHeaders(spec, request, values, now()) });
  if (!signer) return undefined;
  return async (request) => {
    try {
      return await signer(request);
    } catch (cause) {
      const name = typeof spec === "string" ? spec : spec.kind;
      throw new NexusError("INTERNAL", `The request could not be signed (${name})`, { cause, mayHaveReached: false });
    }
  };
}
