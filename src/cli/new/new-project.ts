import { existsSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { messageOf, NexusError } from "../../errors/nexus-error.ts";
import { makeFolder } from "../../files/make-folder.ts";
import { VERSION } from "../../protocol/version.ts";
import { serverId } from "../../text/server-id.ts";
import { quotePath } from "../../text/shell-words.ts";
import { defineCommand, type Command } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { nearPath } from "../output/short-path.ts";

type Kind = "server" | "client";

/** The folder of the package, from the built program. */
const PACKAGE = fileURLToPath(new URL("../../", import.meta.url));
const OWN_NAME = "nexus-mcp";
/** Names that npm does not put into a package as they are. */
const WRITTEN_AS: Readonly<Record<string, string>> = { gitignore: ".gitignore" };

/** What to try first, in the new folder. */
const FIRST: Readonly<Record<Kind, readonly string[]>> = {
  server: ["npm install", "npm test", 'npx nexus mcp tools --stdio "node src/main.js"'],
  client: ["npm install", "npm test", "npm start"],
};

/** nexus new server weather */
export const newServer = newProject("server", {
  description: `
Makes a folder with a small MCP server: a tool with checked arguments and a checked result, a resource, and a test that calls
them. It speaks to clients of every revision, on its pipe or over HTTP.`,
  example: "a server named weather, in ./weather",
});

/** nexus new client reporter */
export const newClient = newProject("client", {
  description: `
Makes a folder with a small program that connects to an MCP server of any revision and prints its tools, and a test with a
scripted server.`,
  example: "a program named reporter, in ./reporter",
});

function newProject(kind: Kind, { description, example }: { description: string; example: string }): Command {
  const folderOfExample = kind === "server" ? "weather" : "reporter";
  return defineCommand({
    usage: `nexus new ${kind} <folder>`,
    description: `${description}

The folder is new or empty; its name becomes the name of the ${kind}. Nothing is installed.`,
    options: {},
    examples: [
      [`nexus new ${kind} ${folderOfExample}`, example],
      [`nexus new ${kind} .`, "in this folder, which is empty"],
    ],

    async run({ words: [given = ""], out, surroundings, signal }) {
      const cwd = process.cwd();
      const folder = resolve(cwd, given);
      await requireEmpty(folder, given);
      const values = { NAME: nameOf(kind, folder), VERSION: packageSpec() };
      const files = await filesOf(kind);
      for (const [file, text] of files) {
        signal.throwIfAborted();
        const path = join(folder, file);
        const written = text.replaceAll(/\b(?:NAME|VERSION)\b/g, (name) => values[name as keyof typeof values]);
        await makeFolder(dirname(path))
          .then(() => writeFile(path, written))
          .catch((error: unknown) => {
            throw cannotWrite(path, error);
          });
      }
      const names = files.map(([file]) => file);
      if (out.json) {
        out.value({ kind, name: values.NAME, folder, files: names });
        return;
      }
      out.line(`Made ${values.NAME} in ${nearPath(folder, { cwd, home: surroundings.home })}: ${names.join(", ")}`);
      out.line("Next:");
      const enter = folder === resolve(cwd) ? [] : [`cd ${quotePath(given)}`];
      for (const step of [...enter, ...FIRST[kind]]) out.line(`  ${step}`);
    },
  });
}

/** npm installs no package into one of the same name. */
function nameOf(kind: Kind, folder: string): string {
  const name = serverId(basename(folder));
  return name === OWN_NAME ? `${name}-${kind}` : name;
}

function cannotWrite(path: string, error: unknown): NexusError {
  return new NexusError("CONFIG_INVALID", `"${path}" cannot be written: ${messageOf(error)}`, {
    hint: "Name a folder in one that you may write to. What was written before is still there.",
    cause: error,
  });
}

/** A new project replaces nothing. */
async function requireEmpty(folder: string, given: string): Promise<void> {
  let there: string[];
  try {
    there = await readdir(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return;
    if (code === "ENOTDIR") throw wrongUsage(`"${given}" is a file`, "Name a new folder.");
    throw new NexusError("CONFIG_INVALID", `The folder "${given}" cannot be read`, { cause: error });
  }
  if (there.length === 0) return;
  throw wrongUsage(`The folder "${given}" is not empty`, "Name a new folder, or an empty one: nothing is replaced.");
}

/** In a clone, which may be newer than what is published, the clone itself. */
function packageSpec(): string {
  return existsSync(join(PACKAGE, "src", "index.ts")) ? `file:${PACKAGE.replaceAll("\\", "/")}` : `^${VERSION}`;
}

/** The files of a template by their paths, in a fixed order. */
async function filesOf(kind: Kind): Promise<[path: string, text: string][]> {
  const root = join(PACKAGE, "templates", kind);
  const found = (await readdir(root, { recursive: true })).map((path) => path.replaceAll("\\", "/")).sort();
  const files = found.filter((path) => !found.some((other) => other.startsWith(`${path}/`)));
  return Promise.all(
    files.map(async (file): Promise<[string, string]> => {
      return [WRITTEN_AS[file] ?? file, await readFile(join(root, file), "utf8")];
    }),
  );
}
