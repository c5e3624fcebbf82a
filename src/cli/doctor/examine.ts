import type { ServerDefinition } from "../../config/read/server-definition.ts";
import { asNexusError } from "../../errors/nexus-error.ts";
import { wayOf } from "./blame.ts";
import { Checkup, type Examined } from "./checkup.ts";
import { configurationFinding, enabledFinding, trustedFinding } from "./configuration-checks.ts";
import { ServerExamination, type ExaminationContext } from "./server-examination.ts";
import {
  lacksVariables,
  referencesIn,
  variablesFinding,
  writtenEntry,
  type AvailableVariables,
} from "./variables-check.ts";

export interface EntryExaminationContext extends ExaminationContext {
  /** The entry on the command line, if there is one. */
  inPlaceEntry: unknown;
  /** Whether this server was named. */
  named: boolean;
}

/** Checks one server from its entry to its shutdown. Rejects only if it is cancelled. */
export async function examine(definition: ServerDefinition, context: EntryExaminationContext): Promise<Examined> {
  const checkup = new Checkup();
  const { id, entry } = definition;
  const { servers, inPlaceEntry } = context;
  const written = servers.inPlace
    ? inPlaceEntry
    : (servers.stored?.get(id) ?? (await writtenEntry(definition).catch(() => undefined)));
  const obstacle = await examineEntry(checkup, definition, { ...context, written });
  if (entry) checkup.kind = wayOf(entry.reach);
  if (obstacle !== undefined || !entry) return checkup.result(id, obstacle);
  try {
    await new ServerExamination(checkup, definition, entry, { ...context, written }).run();
  } catch (error) {
    if (context.signal.aborted) throw error;
    // A problem with one server must not affect the report about the others.
    checkup.fail(asNexusError(error));
  }
  return checkup.result(id);
}

function ofTenant({ stored, tenant }: ExaminationContext["servers"]): string | undefined {
  return stored && `of the tenant "${tenant}"`;
}

/** Checks without starting anything; returns why it ends there, if it does. */
async function examineEntry(
  checkup: Checkup,
  definition: ServerDefinition,
  { servers, surroundings, written, named }: EntryExaminationContext & { written: unknown },
): Promise<string | undefined> {
  const { variables, platform } = surroundings;
  const references = referencesIn(written);
  const names = new Set(Object.keys(variables).map((name) => (platform === "win32" ? name.toUpperCase() : name)));
  const known: AvailableVariables = {
    isSet: (name) => names.has(platform === "win32" ? name.toUpperCase() : name),
    secrets: references.some(({ kind }) => kind === "secret")
      ? await servers.secrets.list().then(
          ({ secrets }) => secrets.map(({ name }) => name),
          () => [],
        )
      : [],
  };
  // One problem is one failure: that of the variables if they are missing.
  const isAboutVariables = definition.problem !== undefined && definition.trusted && lacksVariables(references, known);
  const asConfigured = isAboutVariables ? { ...definition, problem: undefined } : definition;
  checkup.set(
    "configuration",
    configurationFinding(asConfigured, { ...servers.configuration, unfiled: ofTenant(servers) }),
  );
  checkup.set("enabled", enabledFinding(definition, { named }));
  checkup.set("trusted", trustedFinding(definition, ofTenant(servers)));
  if (checkup.find("configuration")?.verdict !== "failed") {
    checkup.set("variables", variablesFinding(references, known, definition));
  }
  if (!definition.enabled) return "it is disabled";
  const isStopped = (["configuration", "trusted", "variables"] as const).some(
    (check) => checkup.find(check)?.verdict === "failed",
  );
  return isStopped ? "nothing is started until this is fixed" : undefined;
}
