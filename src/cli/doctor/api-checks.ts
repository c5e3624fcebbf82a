import type { SecretStore, StoredSecrets } from "../../auth/secrets.ts";
import type { ApiReach } from "../../transport/server-entry.ts";
import { filledPlaces } from "../../workshop/file/model/filled-template.ts";
import type { ToolFile } from "../../workshop/file/model/tool-file.ts";
import { addressOfSecret, fieldsInName, neededSecrets } from "../../workshop/file/model/secret-names.ts";
import { joinFirst } from "../../text/shorten.ts";
import { ok, type CheckId, type Finding } from "./check.ts";

/**
 * What calls of an API's tools need besides its file: their address and secrets. Empty if the file cannot be used:
 * connecting reports why.
 */
export async function apiFindings(
  { file: path, upstream }: ApiReach,
  server: string,
  secrets: SecretStore,
): Promise<[CheckId, Finding][]> {
  const { loadApi } = await import("../../workshop/load-api.ts");
  const { file } = await loadApi(path).catch(() => ({ file: undefined }));
  if (!file) return [];
  if (upstream === "fake") {
    return [
      ["upstream", ok("a fake, started with the server")],
      ["secrets", ok("placeholders of the fake")],
    ];
  }
  const place = upstream === undefined ? ok(file.upstream.base) : ok(`${upstream} instead of ${file.upstream.base}`);
  return [
    ["upstream", place],
    ["secrets", await secretsFinding({ file, server, upstream, store: secrets })],
  ];
}

interface SecretsNeeded {
  file: ToolFile;
  server: string;
  /** An address that replaces the real one. */
  upstream: string | undefined;
  store: SecretStore;
}

async function secretsFinding({ file, server, upstream, store }: SecretsNeeded): Promise<Finding> {
  const needed = neededSecrets(file, server);
  if (needed.length === 0) return ok("no secrets are used");
  const { secrets } = await store.list().catch((): StoredSecrets => ({ secrets: [], unreadable: 0 }));
  const missing = needed.filter((name) => !secrets.some((stored) => filledPlaces(name, stored.name) !== undefined));
  const used = secrets.filter((stored) => needed.some((name) => filledPlaces(name, stored.name) !== undefined));
  const originOf = (name: string) => new URL(upstream ?? addressOfSecret(file, name.slice(server.length + 1))).origin;
  const refused = used
    .filter(({ name, origins }) => origins?.includes(originOf(name)) === false)
    .map(({ name }) => ({ name, origin: originOf(name) }));
  if (missing.length === 0 && refused.length === 0) return ok(joinFirst(needed, 10));
  return {
    verdict: "warning",
    evidence: [
      ...(missing.length > 0 ? [`not stored: ${joinFirst(missing, 10)}`] : []),
      ...[...new Set(refused.map(({ origin }) => origin))].map((origin) => {
        const names = refused.filter((one) => one.origin === origin).map(({ name }) => name);
        return `not allowed for ${origin}: ${joinFirst(names, 10)}`;
      }),
    ],
    advice: [
      ...missing.map((name) => setCommand(name, file)),
      ...refused.map(({ name, origin }) => `nexus secrets allow ${name} ${origin}`),
    ],
  };
}

/** The command that stores a secret. A name with a placeholder stands for many; the command is an example then. */
function setCommand(name: string, { fake }: ToolFile): string {
  const fields = fieldsInName(name);
  if (fields.length === 0) return `nexus secrets set ${name}`;
  const [server = "", ...rest] = name.split(".");
  const example = Object.keys(fake.secrets).find((each) => filledPlaces(rest.join("."), each) !== undefined);
  const filled = example === undefined ? name.replaceAll(/\{\w+\}/g, "1") : `${server}.${example}`;
  return `nexus secrets set ${filled} (an example: set one secret for each ${fields.join(" and ")})`;
}
