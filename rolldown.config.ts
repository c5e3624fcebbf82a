import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, type Plugin } from "rolldown";

/** Published JavaScript: every pure JavaScript dependency is inside, its licence in dist/THIRD-PARTY-LICENCES.md. */
const published = defineConfig({
  input: {
    index: "src/index.ts",
    "gateway/index": "src/gateway/index.ts",
    "cli/main": "src/cli/main.ts",
    "demo/main": "src/demo/main.ts",
    "testing/index": "src/testing/index.ts",
  },
  platform: "node",
  transform: { target: "node20" },
  plugins: [licences()],
  output: {
    dir: "dist",
    format: "esm",
    cleanDir: true,
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    codeSplitting: {
      groups: [
        { name: "first", test: /\/src\/(protocol\/version|cli\/(overview|catalog))\.ts$/, priority: 1 },
        { name: "core", test: isCore },
      ],
    },
  },
});

/**
 * What every connection over a pipe needs is one file: opening thirty small ones takes longer than a short command has.
 * What only some need (HTTP, YAML, TOML, schemas, secrets, single commands) stays apart, and so does what comes first.
 */
function isCore(id: string): boolean {
  const path = id.replaceAll("\\", "/");
  if (/node_modules\/jsonc-parser|oxc-project.runtime/.test(path)) return true;
  const [, layer = "", file = ""] = /\/src\/(\w+)\/(.*)\.ts$/.exec(path) ?? [];
  if (!["errors", "protocol", "transport", "client", "config", "host", "auth", "cli"].includes(layer)) return false;
  if (layer === "cli")
    return /^(run|command|command-line|help|output|exit-codes|server-set|in-place|sightings|ask-servers|text\/split-words)$/.test(
      file,
    );
  return !/^(version|http|sse|refusal|network-failure|schema-|yaml|toml|json-edit|edit|import|secrets|keychain|file-lock|whole-file|watch|registry|host$|server-supervisor|server-lists|policy|memory)/.test(
    file,
  );
}

/** Servers that tests run as child processes: built like the package, never published. */
const fixtures = defineConfig({
  input: Object.fromEntries(
    readdirSync("test/fixtures/servers")
      .filter((file) => file.endsWith("-main.ts"))
      .map((file) => [file.replace(/-main\.ts$/, ""), join("test/fixtures/servers", file)]),
  ),
  platform: "node",
  transform: { target: "node20" },
  external: [/^@modelcontextprotocol\//, /^zod/],
  output: { dir: "build/fixtures", format: "esm", cleanDir: true, entryFileNames: "[name].js" },
});

export default [published, fixtures];

function licences(): Plugin {
  return {
    name: "licences",
    generateBundle(_options, bundle) {
      const folders = new Set<string>();
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== "chunk") continue;
        for (const id of chunk.moduleIds) {
          const match = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id.replaceAll("\\", "/"));
          if (match?.[1]) folders.add(match[1]);
        }
      }
      const sections = [...folders].sort().map(licenceOf);
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

/** Some packages name their licence without shipping its text; ours is the same licence, with another holder. */
function standardText({ name, license, author }: Manifest): string {
  if (license !== "MIT") throw new Error(`no licence text found for ${name}`);
  const holder = typeof author === "object" ? author.name : (author ?? `the authors of ${name}`);
  return readFileSync("LICENSE", "utf8")
    .replace(/^Copyright .*$/m, `Copyright (c) ${holder}`)
    .trim();
}
