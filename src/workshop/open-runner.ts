import { join } from "node:path";
import { instanceFileName, instanceKey, type ServerInstance } from "../auth/server-instance.ts";
import { secretStore } from "../host/servers/load-options.ts";
import type { ApiSurroundings } from "../host/servers/server-connector.ts";
import type { ApiReach } from "../transport/server-entry.ts";
import type { ToolFile } from "./file/model/tool-file.ts";
import { DeviationLog, deviationsFolder } from "./learn/seen-deviations.ts";
import { ApiRunner, type ApiRunnerOptions } from "./run/api-runner.ts";
import type { RequestRate } from "./run/request-rate.ts";
import type { ResultStore } from "./run/result-store.ts";
import { apiSecrets } from "./run/secrets/api-secrets.ts";
import { UpstreamTokens } from "./run/secrets/upstream-tokens.ts";
import { exampleSettings } from "./run/setting-values.ts";
import { FileWriteLedger } from "./run/writes/file-write-ledger.ts";
import { writesFolder } from "./run/writes/unknown-writes.ts";
import type { WriteLedger } from "./run/writes/write-ledger.ts";
import type { OpenedRunner, ServedVersion } from "./serve/versioned-server.ts";

export interface RunnerContext extends ApiSurroundings {
  instance: ServerInstance;
  results: ResultStore;
  ledger: WriteLedger | undefined;
  rate?: RequestRate | undefined;
  /** The upstream of the version is not the approved one. */
  isElsewhere?: boolean;
}

/** What makes the requests of a version: with its upstream, secrets and recorded writes. */
export async function openRunner(
  { api, file = api.file }: ServedVersion,
  { upstream, settings = {} }: Pick<ApiReach, "upstream" | "settings">,
  given: RunnerContext,
): Promise<OpenedRunner> {
  const { instance, results } = given;
  const isFake = upstream === "fake";
  const { close: unbind, ...binding } = isFake
    ? await boundToFake(file, instance)
    : boundToReal(file, instance, { ...given, upstream });
  const deviations = isFake ? undefined : deviationLog(api.file.api, instance, given);
  try {
    const runner = new ApiRunner(api, {
      ...binding,
      results,
      rate: given.rate,
      settings: isFake ? { ...exampleSettings(file), ...settings } : settings,
      instance,
      ca: [...given.surroundings.extraCertificates, ...(given.ca ?? [])],
      publicOnly: isFake ? undefined : given.publicOnly,
      logger: given.logger,
      onDeviations: deviations && ((tool, told) => deviations.note(tool, told)),
    });
    const close = async () => {
      deviations?.flush();
      await runner.close();
      await unbind();
    };
    return { runner, close };
  } catch (error) {
    await unbind();
    throw error;
  }
}

type Binding = Pick<ApiRunnerOptions, "secrets" | "saveSecret" | "tokens" | "upstream" | "ledger"> & {
  close: () => Promise<void>;
};

/** The fake of the file with its credentials; its data ends with it. */
async function boundToFake(file: ToolFile, { server }: ServerInstance): Promise<Binding> {
  const { startFake } = await import("./fake/fake.ts");
  const fake = await startFake(file);
  const placeholders = new Map(Object.entries(fake.secrets).map(([name, value]) => [`${server}.${name}`, value]));
  return { secrets: async (name) => placeholders.get(name), upstream: fake.url, close: () => fake.close() };
}

function boundToReal(
  { api }: ToolFile,
  instance: ServerInstance,
  given: RunnerContext & { upstream: string | undefined },
): Binding {
  const { surroundings, stateFolder, logger, upstream, ledger = fileLedger(api, instance, given) } = given;
  const store = given.secrets ?? secretStore(surroundings, stateFolder);
  const secrets = apiSecrets(store, {
    api,
    instance,
    logger,
    isStandIn: upstream !== undefined || given.isElsewhere === true,
  });
  const saveSecret = async (name: string, value: string) => void (await store.set(name, value));
  return { secrets, saveSecret, tokens: sharedTokens(instance, given), upstream, ledger, close: async () => {} };
}

/** One for all connections of this process to the same server: it writes a file. */
function deviationLog(api: string, instance: ServerInstance, { shared, stateFolder }: ApiSurroundings): DeviationLog {
  const file = join(deviationsFolder(stateFolder), `${instanceFileName(instance)}.json`);
  const known = shared?.get(file);
  if (known instanceof DeviationLog) return known;
  const log = new DeviationLog(file, { api, server: instance.server });
  shared?.set(file, log);
  return log;
}

/** One for all connections of this process to the same server, so that each token is requested once. */
function sharedTokens(instance: ServerInstance, { shared }: ApiSurroundings): UpstreamTokens {
  const key = `tokens ${instanceKey(instance)}`;
  const known = shared?.get(key);
  if (known instanceof UpstreamTokens) return known;
  const tokens = new UpstreamTokens();
  shared?.set(key, tokens);
  return tokens;
}

/** One for all connections of this process: its index has all writes of a year. */
function fileLedger(api: string, instance: ServerInstance, given: ApiSurroundings): FileWriteLedger {
  const folder = writesFolder(given.stateFolder);
  const file = join(folder, `${instanceFileName(instance)}.jsonl`);
  const known = given.shared?.get(file);
  if (known instanceof FileWriteLedger) return known;
  const { platform } = given.surroundings;
  // Older versions recorded writes under the name of the API.
  const ledger = new FileWriteLedger({ file, platform, former: join(folder, `${api}.jsonl`) });
  given.shared?.set(file, ledger);
  return ledger;
}
