import { readdir, stat } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { nearestName } from "../../text/nearest-name.ts";
import { NexusError } from "../../errors/nexus-error.ts";

const ENDING = ".nexus.yaml";

interface ToolFilePlaces {
  /** The working folder of the command. */
  cwd: string;
  /** The folder of examples in the package. */
  examples?: string;
}

/**
 * Finds the tool file of `nexus api … <api>`: a path to it or its folder, or the name of an API in api/<name>/, <name>/
 * or here, or of an example in the package.
 */
export async function findToolFile(given: string, places: ToolFilePlaces): Promise<string> {
  const { cwd, examples = packagedExamples() } = places;
  const candidates = isPath(given) ? pathsOf(resolve(cwd, given)) : placesOf(given, { cwd, examples });
  for (const file of candidates) if (await isFile(file)) return file;
  const inFolder = await toolFilesIn(resolve(cwd, given));
  if (inFolder.length === 1 && inFolder[0] !== undefined) return join(resolve(cwd, given), inFolder[0]);
  throw isPath(given) || inFolder.length > 1
    ? noFile(given, inFolder)
    : noApi(given, candidates, await namesIn([join(cwd, "api"), cwd, examples]));
}

function isPath(given: string): boolean {
  return /[\\/]|\.ya?ml$/.test(given) || given === "." || given === "..";
}

function pathsOf(path: string): string[] {
  return [path, join(path, `${basename(path)}${ENDING}`)];
}

function placesOf(name: string, { cwd, examples }: Required<ToolFilePlaces>): string[] {
  const file = `${name}${ENDING}`;
  return [join(cwd, "api", name, file), join(cwd, name, file), join(cwd, file), join(examples, name, file)];
}

/** Beside dist/, in which the built program is two folders down. */
function packagedExamples(): string {
  return fileURLToPath(new URL("../../api", import.meta.url));
}

async function toolFilesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder).catch(() => []);
  return entries.filter((entry) => entry.endsWith(ENDING)).toSorted();
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

/** The names of the APIs in folders, each in its own folder or as a file. */
async function namesIn(folders: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    folders.map(async (folder) => {
      const entries = await readdir(folder).catch(() => []);
      const kept = await Promise.all(
        entries.map(async (entry) => {
          if (entry.endsWith(ENDING)) return entry.slice(0, -ENDING.length);
          return (await isFile(join(folder, entry, `${entry}${ENDING}`))) ? entry : undefined;
        }),
      );
      return kept.filter((name) => name !== undefined);
    }),
  );
  return [...new Set(found.flat())].toSorted();
}

function noFile(given: string, inFolder: readonly string[]): NexusError {
  const isSeveral = inFolder.length > 1;
  const problem = isSeveral ? "has several tool files" : "does not exist";
  return new NexusError(
    "CONFIG_INVALID",
    `${isSeveral ? "The folder" : "The tool file"} ${JSON.stringify(given)} ${problem}`,
    {
      phase: "config",
      hint: isSeveral
        ? `Use the path of one of them: ${inFolder.slice(0, 10).join(", ")}.`
        : `Use the path of a file named <api>${ENDING}, or of its folder.`,
      mayHaveReached: false,
    },
  );
}

function noApi(name: string, candidates: readonly string[], known: readonly string[]): NexusError {
  const near = nearestName(name, known);
  const list = known.length === 0 ? "" : ` Known APIs: ${known.join(", ")}.`;
  return new NexusError("CONFIG_INVALID", `No tool file was found for the API ${JSON.stringify(name)}`, {
    phase: "config",
    hint: `${near === undefined ? "" : `Did you mean ${near}?`}${list} Searched: ${candidates.slice(0, 3).join(", ")}.`.trim(),
    mayHaveReached: false,
  });
}
