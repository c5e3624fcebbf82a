import { dirname, join } from "node:path";
import { readEnvironment } from "../environment.ts";
import { defaultStateFolder } from "../host/state-folder.ts";
import { VERSION } from "../protocol/version.ts";
import { CodeCache } from "./code-cache.ts";

type Wrapper = (
  exports: unknown,
  require: (id: string) => unknown,
  module: NodeJS.Module,
  filename: string,
  folder: string,
) => void;

/** From here on the program's own files, which alone end in `.cjs`, are loaded with what a run before has compiled. */
export function loadCached(command: string): void {
  const surroundings = readEnvironment();
  if (surroundings.variables["NEXUS_CODE_CACHE"] === "off") return;
  const file = join(defaultStateFolder(surroundings), "code", `${command.replace(" ", "-")}.bin`);
  const cache = new CodeCache(file, [VERSION, process.version, process.platform, process.arch].join(" "));
  require.extensions[".cjs"] = (module: NodeJS.Module, filename: string) => {
    const wrapper = cache.load(filename).runInThisContext() as Wrapper;
    wrapper(module.exports, (id) => module.require(id), module, filename, dirname(filename));
  };
  // A run that failed has not come by everything that the next one needs.
  process.on("exit", (code) => {
    if (code === 0) cache.save();
  });
}
