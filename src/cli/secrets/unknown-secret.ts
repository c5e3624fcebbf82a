import { nearestName } from "../../text/nearest-name.ts";
import type { OperatedSecrets } from "./operated-secrets.ts";
import { NexusError } from "../../errors/nexus-error.ts";

interface SecretNames extends Pick<OperatedSecrets, "optionsAgain"> {
  secrets: Pick<OperatedSecrets["secrets"], "list">;
}

/** The error for an unknown secret. */
export async function unknownSecret(
  name: string,
  { secrets: store, optionsAgain: again }: SecretNames,
): Promise<NexusError> {
  // An unreadable secret must not hide that this one does not exist.
  const { secrets } = await store.list().catch(() => ({ secrets: [] }));
  const near = nearestName(
    name,
    secrets.map((secret) => secret.name),
  );
  const known =
    secrets.length === 0
      ? `No secrets are stored. Store one: nexus secrets set NAME${again}`
      : `"nexus secrets list${again}" lists all secrets.`;
  return new NexusError("NAME_UNKNOWN", `There is no secret "${name}"`, {
    hint: near === undefined ? known : `Did you mean "${near}"? ${known}`,
    mayHaveReached: false,
  });
}
