// The lockfile must install on every platform, and name no registry.
import { readFileSync } from "node:fs";

const LOCKFILES = ["package-lock.json", "test/tools/package-lock.json"];
const problems = [];

for (const file of LOCKFILES) {
  const { packages } = JSON.parse(readFileSync(file, "utf8"));
  for (const [place, entry] of Object.entries(packages)) {
    if (entry.resolved) problems.push(`${file}: ${place} names where it was downloaded from`);
    for (const name of Object.keys(entry.optionalDependencies ?? {})) {
      if (!findable(packages, place, name)) problems.push(`${file}: ${place || "the root"} lacks its optional ${name}`);
    }
  }
}

for (const problem of problems) console.error(problem);
if (problems.length > 0) {
  console.error("Delete node_modules and the lockfile, run npm install, and look at the difference.");
  process.exit(1);
}

/** As Node looks: beside the package, then in each folder above it. */
function findable(packages, place, name) {
  for (let folder = place; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf("node_modules/") - 1))) {
    if (packages[`${folder === "" ? "" : `${folder}/`}node_modules/${name}`]) return true;
    if (folder === "") return false;
  }
}
