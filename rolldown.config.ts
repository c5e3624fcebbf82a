import { readdirSync, readFileSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { defineConfig, type ChunkingContext, type CodeSplittingGroup, type Plugin } from "rolldown";

const NOT_BUNDLED = ["libsql", "pg-native", "cloudflare:sockets"];

/**
 * The library and the program, which share their files. Every pure JavaScript dependency is inside, its licence in
 * dist/THIRD-PARTY-LICENCES.md.
 */
const published = defineConfig({
  input: {
    index: "src/index.ts",
    "cli/main": "src/cli/main.ts",
    "gateway/index": "src/gateway/index.ts",
    "server/index": "src/server/index.ts",
    "workshop/index": "src/workshop/index.ts",
    "demo/main": "src/demo/main.ts",
    "testing/index": "src/testing/index.ts",
  },
  platform: "node",
  transform: { target: "node20" },
  // libsql is native, and installed where that works; pg asks for the other two, and does without them.
  external: NOT_BUNDLED,
  plugins: [licences()],
  output: {
    dir: "dist",
    format: "esm",
    cleanDir: true,
    entryFileNames: "[name].js",
    comments: false,
    chunkFileNames: "chunks/[name]-[hash].js",
    codeSplitting: { groups: ["command", "core", "start"].map(together) },
  },
});

/** Servers that tests run as child processes: built like the package, never published. */
const fixtures = defineConfig({
  input: Object.fromEntries(
    readdirSync("test/fixtures/servers")
      .filter((file) => file.endsWith("-main.ts"))
      .map((file) => [file.replace(/-main\.ts$/, ""), join("test/fixtures/servers", file)]),
  ),
  platform: "node",
  transform: { target: "node20" },
  external: [/^@modelcontextprotocol\//, /^zod/, ...NOT_BUNDLED],
  output: { dir: "build/fixtures", format: "esm", cleanDir: true, entryFileNames: "[name].js" },
});

export default [published, fixtures];

/**
 * Three files have what most commands load: a short command would spend a third of its time on opening sixty small ones.
 * `start` is all that --version and --help need, `core` what the others need of the library, `command` what they need
 * besides. What is imported on demand stays apart.
 */
function together(file: string, priority: number): CodeSplittingGroup {
  const reach = (context: ChunkingContext, ...roots: string[]) => {
    const found = new Set(roots.map((root) => resolve("src/cli", root)));
    for (const each of found)
      for (const imported of context.getModuleInfo(each)?.importedIds ?? []) found.add(imported);
    return found;
  };
  let first: Set<string> | undefined;
  let most: Set<string> | undefined;
  const fileOf = (id: string, context: ChunkingContext) => {
    first ??= reach(context, "overview.ts", "compile-cache.ts");
    most ??= reach(context, "run.ts", "look/mcp-tools.ts");
    if (first.has(id)) return "start";
    if (!most.has(id)) return undefined;
    return id.startsWith(join(resolve("src/cli"), sep)) ? "command" : "core";
  };
  return {
    name: (id, context) => (fileOf(id, context) === file ? file : null),
    debugName: file,
    priority,
  };
}

function licences(): Plugin {
  return {
    name: "licences",
    generateBundle(_options, bundle) {
      const bundled = new Set<string>();
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== "chunk") continue;
        for (const id of chunk.moduleIds) {
          const match = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id.replaceAll("\\", "/"));
          if (match?.[1]) bundled.add(match[1]);
        }
      }
      const sections = [...bundled].sort().map(licenceOf);
      const source = [
        "# Third-party licences",
        "",
        "The published files contain code of these packages.",
        "",
        ...sections,
      ];
      this.emitFile({ type: "asset", fileName: "THIRD-PARTY-LICENCES.md", source: source.join("\n") });
    },
  };
}

interface Manifest {
  name: string;
  version: string;
  license?: string;
  author?: string | { name: string };
}

function licenceOf(folder: string): string {
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Manifest;
  const heading = `## ${manifest.name} ${manifest.version} (${manifest.license ?? "see text"})`;
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  const text = file ? readFileSync(join(folder, file), "utf8").trim() : standardText(manifest);
  return [heading, "", text, ""].join("\n");
}

/** Whose work is in packages that ship no licence text although their repositories have one with several parts. */
const HOLDERS: Readonly<Record<string, readonly { licence: "ISC" | "MIT"; holder: string; part?: string }[]>> = {
  saxes: [
    { licence: "ISC", holder: "Contributors" },
    { licence: "ISC", holder: "Isaac Z. Schlueter and Contributors", part: "sax, from which saxes was forked" },
    { licence: "MIT", holder: "Mathias Bynens <https://mathiasbynens.be/>", part: "String.fromCodePoint" },
  ],
};

/** Some packages name their licence without shipping its text. */
function standardText({ name, license, author }: Manifest): string {
  const known = HOLDERS[name];
  if (known) {
    const parts = known.map(({ licence, holder, part }) => `${part ? `${part}:\n\n` : ""}${text(licence, holder)}`);
    return parts.join("\n\n");
  }
  if (license !== "MIT" && license !== "ISC") throw new Error(`no licence text found for ${name}`);
  return text(license, typeof author === "object" ? author.name : (author ?? `the authors of ${name}`));
}

/** Our own licence is the MIT one, with another holder. */
function text(licence: "ISC" | "MIT", holder: string): string {
  const file = licence === "MIT" ? "LICENSE" : "scripts/licence-isc.txt";
  return readFileSync(file, "utf8")
    .replace(/^Copyright .*$/m, `Copyright (c) ${holder}`)
    .trim();
}
