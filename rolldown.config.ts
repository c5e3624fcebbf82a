import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig, type Plugin } from "rolldown";

/** Packages whose code is in what is published; both outputs add to it. */
const bundled = new Set<string>();

/** The library: every pure JavaScript dependency is inside, its licence in dist/THIRD-PARTY-LICENCES.md. */
const library = defineConfig({
  input: {
    index: "src/index.ts",
    "gateway/index": "src/gateway/index.ts",
    "workshop/index": "src/workshop/index.ts",
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
    comments: false,
    chunkFileNames: "chunks/[name]-[hash].js",
    codeSplitting: { groups: [{ name: "core", test: isCore }] },
  },
});

/**
 * The program is CommonJS, because only that can be loaded with code that a run before has compiled (`load-cached.ts`),
 * and has no part in common with the library, which its users load and bundle as ES modules.
 */
const program = defineConfig({
  input: { main: "src/cli/main.ts" },
  platform: "node",
  transform: { target: "node20" },
  plugins: [licences(), commonJs()],
  output: {
    dir: "dist",
    format: "cjs",
    strict: true,
    comments: false,
    dynamicImportInCjs: false,
    entryFileNames: "cli/[name].js",
    chunkFileNames: "cli/[name]-[hash].cjs",
    codeSplitting: {
      groups: [
        {
          name: "first",
          test: /\/src\/(protocol\/version|cli\/(overview|catalog))\.ts$/,
          priority: 1,
        },
        { name: "load-cached", test: isNeededBeforeTheCache, priority: 1 },
        { name: "core", test: isCore },
      ],
    },
  },
});

/** What finds the compiled code is itself compiled each time. */
function isNeededBeforeTheCache(id: string): boolean {
  return /\/src\/(environment|host\/(state-folder|write-now)|cli\/(load-cached|code-cache))\.ts$/.test(
    id.replaceAll("\\", "/"),
  );
}

/**
 * What every connection over a pipe needs is one file: opening thirty small ones takes longer than a short command has.
 * What only some need (HTTP, YAML, TOML, schemas, secrets, single commands) stays apart, and so does what comes first.
 */
function isCore(id: string): boolean {
  const path = id.replaceAll("\\", "/");
  if (/node_modules\/jsonc-parser|oxc-project.runtime/.test(path)) return true;
  const [, layer = "", file = ""] = /\/src\/(\w+)\/(.*)\.ts$/.exec(path) ?? [];
  if (!["errors", "protocol", "transport", "client", "config", "host", "auth", "compose", "cli"].includes(layer))
    return false;
  if (layer === "cli")
    return /^(run|command|command-line|help|output|verbose-logger|exit-codes|server-set|in-place|sightings|ask-servers|text\/(split-words|amounts|text-width)|looking\/(list-command|no-servers|schema-type|tool-signature))$/.test(
      file,
    );
  return !/^(version|http|sse|refusal|schema-|yaml|toml|json-edit|edit|import|secrets|keychain|file-lock|whole-file|watch|registry|host$|server-supervisor|server-lists|memory)/.test(
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

export default [library, program, fixtures];

function commonJs(): Plugin {
  return {
    name: "common-js",
    generateBundle(_options, bundle) {
      for (const chunk of Object.values(bundle)) if (chunk.type === "chunk") chunk.code = inAscii(chunk.code);
      this.emitFile({ type: "asset", fileName: "cli/package.json", source: `{ "type": "commonjs" }\n` });
    },
  };
}

/** One other character doubles what V8 keeps of a file, and the time it takes to make that. */
function inAscii(code: string): string {
  if (/String\.raw`[^`]*[^\0-\x7f]/.test(code)) throw new Error("a raw text of the program has more than ASCII");
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function licences(): Plugin {
  return {
    name: "licences",
    generateBundle(_options, bundle) {
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
