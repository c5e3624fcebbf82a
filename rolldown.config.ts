import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { defineConfig, type ChunkingContext, type CodeSplittingGroup, type Plugin } from "rolldown";

const NOT_BUNDLED = ["libsql", "pg-native", "cloudflare:sockets", "@opentelemetry/api", /^@ai-sdk\//];

/** What is shorter is compiled faster at each start. Functions keep their names, which stacks of errors show. */
const SMALL = { compress: { keepNames: { function: true, class: true } }, mangle: { toplevel: false } };

/**
 * The library and the program, which share their files. Every pure JavaScript dependency is inside, its licence in
 * dist/THIRD-PARTY-LICENCES.md.
 */
const published = defineConfig({
  input: {
    index: "src/index.ts",
    "cli/main": "src/cli/main.ts",
    "agent/index": "src/agent/index.ts",
    "gateway/index": "src/gateway/index.ts",
    "server/index": "src/server/index.ts",
    "workshop/index": "src/workshop/index.ts",
    "workshop/reader": "src/workshop/reader/main.ts",
    "workshop/answers": "src/workshop/reader/answers.ts",
    "testing/index": "src/testing/index.ts",
  },
  platform: "node",
  transform: { target: "node20" },
  // libsql is native, and installed where that works; pg asks for the next two, and does without them; the last one has to
  // be the copy of the program that registers an SDK, and is used only there.
  external: NOT_BUNDLED,
  checks: { ineffectiveDynamicImport: false },
  plugins: [withoutFacades(), licences()],
  output: {
    dir: "dist",
    format: "esm",
    cleanDir: true,
    entryFileNames: "[name].js",
    comments: false,
    minify: SMALL,
    chunkFileNames: "chunks/[name]-[hash].js",
    codeSplitting: { groups: sharedFiles() },
  },
});

/** The client for browsers: shares no file with the rest, so that nothing of Node is in its graph. */
const webClient = defineConfig({
  input: { "client/index": "src/client/web/index.ts" },
  platform: "browser",
  transform: { target: "es2022" },
  checks: { ineffectiveDynamicImport: false },
  output: {
    dir: "dist",
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "client/chunks/[name]-[hash].js",
    comments: false,
    minify: SMALL,
  },
});

/** The demo server: of the files that the library shares it needs a third, and it is started often. */
const demo = defineConfig({
  input: { "demo/main": "src/demo/main.ts" },
  platform: "node",
  transform: { target: "node20" },
  output: {
    dir: "dist",
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "demo/[name]-[hash].js",
    comments: false,
  },
});

/** Programs that tests run as child processes: built like the package, never published. */
const fixtures = defineConfig({
  input: Object.fromEntries(
    readdirSync("test/fixtures/servers")
      .filter((file) => file.endsWith("-main.ts") && file !== "everything-main.ts")
      .map((file) => [file.replace(/-main\.ts$/, ""), join("test/fixtures/servers", file)]),
  ),
  platform: "node",
  transform: { target: "node20" },
  external: [/^@modelcontextprotocol\//, /^zod/, ...NOT_BUNDLED],
  output: { dir: "build/fixtures", format: "esm", cleanDir: true, entryFileNames: "[name].js" },
});

/** The test server, which is started a thousand times in a run: one small file, in the format that Node loads faster. */
const everything = defineConfig({
  input: "test/fixtures/servers/everything-main.ts",
  platform: "node",
  transform: { target: "node20" },
  output: { file: "build/fixtures/everything.cjs", format: "cjs", minify: true, codeSplitting: false },
});

export default [published, webClient, demo, fixtures, everything];

/**
 * Files with many modules each, because opening a file takes half a millisecond: a short command would spend a third of its
 * time on sixty small ones. A module is in the first of these files that has it. All others are the bundler's choice: one file
 * for the modules that the same programs need. What is imported on demand stays apart.
 */
function sharedFiles(): CodeSplittingGroup[] {
  const order = [
    "start",
    "core",
    "command",
    "schema",
    "call",
    "common",
    "sets",
    "server",
    "host",
    "gateway",
    "database",
    "store",
    "news",
  ];
  let files: ReadonlyMap<string, string> | undefined;
  return order.map((file, index) => ({
    name: (id, context) => ((files ??= new SharedFiles(context).choose()).get(id) === file ? file : null),
    debugName: file,
    priority: order.length - index,
  }));
}

/** What loads so little that a file of its own costs more than to load it in vain, in characters of the source. */
const TINY = 2500;
const inFolder = (folder: string) => (id: string) => id.startsWith(join(resolve(folder), sep));

/** Chooses the modules of each file. With a module, a file also has all that it imports and that no earlier one has. */
class SharedFiles {
  readonly #context: ChunkingContext;
  readonly #files = new Map<string, string>();

  constructor(context: ChunkingContext) {
    this.#context = context;
  }

  choose(): ReadonlyMap<string, string> {
    // All that --version and --help need; then what most commands need of the library, and besides.
    this.#put(
      "start",
      this.#load("cli/overview.ts", "environment.ts", "files/user-folders.ts", "cli/output/typed-name.ts"),
    );
    this.#putCommand(this.#load("cli/run.ts", "cli/look/mcp-tools.ts"));
    // `nexus serve` needs a little of everything.
    const ofServe = this.#load("cli/serve/serve.ts", "cli/serve/serve-door.ts").filter(inFolder("src"));
    const ofCall = this.#load("cli/call/mcp-call.ts");
    this.#put("call", ofCall.filter(inFolder("src/cli")));
    // With what checks values: most calls have some.
    this.#put("schema", [
      ...ofCall,
      ...this.#load("schema/explain.ts", "schema/location.ts", "schema/preparation.ts", "schema/validator.ts"),
    ]);
    // What the store, servers and commands need parts of.
    this.#put(
      "common",
      this.#load(
        "async/coalesced-runs.ts",
        "compose/open-api.ts",
        "config/network-settings.ts",
        "config/unique-prefixes.ts",
        "async/fair-shares.ts",
        "files/file-lock.ts",
        "files/state-key.ts",
        "host/definitions/known-definitions.ts",
        "server/core/principal.ts",
        "server/core/seal.ts",
        "server/core/stderr-logger.ts",
        "store/keep/key-text.ts",
        "workshop/run/writes/write-ledger.ts",
      ),
    );
    this.#put(
      "common",
      ofServe.filter((id) => this.#isTiny(id) && this.#isShared(id)),
    );
    this.#put("sets", this.#load("gateway/sets/compiled-set.ts"));
    this.#put("server", this.#load("server/http/serve-http.ts", "server/legacy/duplex-conversation.ts"));
    this.#put("host", this.#load("host/host.ts"));
    this.#put("gateway", this.#load("gateway/index.ts"));
    const team = ["team/key-door.ts", "team/tenant-definitions.ts", "compose/stored-state.ts"];
    this.#put("database", this.#load("cli/store/chosen-database.ts", ...team));
    this.#put("store", this.#load("store/store.ts"));
    return this.#files;
  }

  #put(file: string, modules: readonly string[]): void {
    for (const id of modules) if (!this.#files.has(id)) this.#files.set(id, file);
  }

  #putCommand(modules: readonly string[]): void {
    this.#put("command", modules.filter(inFolder("src/cli")));
    this.#put("core", modules);
  }

  #isTiny(id: string): boolean {
    const more = importsOf(this.#context, [id]).filter((each) => !this.#files.has(each));
    // A module of Node, such as node:crypto, takes longer than a file.
    const lengths = more.map((each) => this.#context.getModuleInfo(each)?.code?.length ?? Infinity);
    return lengths.reduce((sum, length) => sum + length, 0) <= TINY;
  }

  /** Whether other commands also load it. */
  #isShared(id: string): boolean {
    const importers = new Set([id]);
    for (const each of importers)
      for (const importer of this.#context.getModuleInfo(each)?.importers ?? []) importers.add(importer);
    const isOnDemand = (each: string) => (this.#context.getModuleInfo(each)?.dynamicImporters.length ?? 0) > 0;
    return [...importers].some(
      (each) => inFolder("src/cli")(each) && isOnDemand(each) && !inFolder("src/cli/serve")(each),
    );
  }

  #load(...roots: readonly string[]): string[] {
    const modules = roots.map((root) => resolve("src", root));
    const gone = modules.find((id) => !this.#context.getModuleInfo(id));
    if (gone !== undefined) throw new Error(`${gone} is not part of the program: rolldown.config.ts names it`);
    return importsOf(this.#context, modules);
  }
}

/** All modules that are loaded with these. */
function importsOf(context: ChunkingContext, roots: readonly string[]): string[] {
  const found = new Set(roots);
  for (const each of found) for (const imported of context.getModuleInfo(each)?.importedIds ?? []) found.add(imported);
  return [...found];
}

/** A file that only passes on what another one exports: `export{t as run}from"./command-….js";` */
const FACADE = /^export\{([^{}]+)\}from["`]\.\/([^"`]+)["`];?\s*$/;

/**
 * What is imported on demand is often in a file with other modules, and the bundler makes another file for it, with its own
 * exports only. Opening that one takes half a millisecond; importers take what they need of the first one instead.
 */
function withoutFacades(): Plugin {
  return {
    name: "without-facades",
    generateBundle(_options, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
      const importedOnDemand = (name: string) =>
        !chunks.some(({ imports, isEntry, fileName }) => {
          return imports.includes(name) || (isEntry && fileName === name);
        });
      for (const { fileName, code } of chunks) {
        const [, names = "", target = ""] = FACADE.exec(code) ?? [];
        if (target === "" || !importedOnDemand(fileName)) continue;
        const members = names.split(",").map((name) => {
          const [own = "", given = own] = name.trim().split(" as ");
          return `${given}:e.${own}`;
        });
        const file = fileName.slice(fileName.lastIndexOf("/") + 1);
        const asked = new RegExp(`import\\((["\`])([^"\`]*)${file.replaceAll(/[.$]/g, String.raw`\$&`)}\\1\\)`, "g");
        for (const chunk of chunks) {
          chunk.code = chunk.code.replaceAll(asked, `import($1$2${target}$1).then(e=>({${members.join(",")}}))`);
        }
        delete bundle[fileName];
      }
    },
  };
}

function licences(): Plugin {
  return {
    name: "licences",
    generateBundle(_options, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === "chunk");
      const bundled = Object.fromEntries(chunks.map(({ fileName, moduleIds }) => [fileName, packagesOf(moduleIds)]));
      // Tests ask what a command loads.
      mkdirSync("build", { recursive: true });
      writeFileSync("build/bundled.json", JSON.stringify(bundled));
      const sections = [...new Set(Object.values(bundled).flat())].sort().map(licenceOf);
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

/** The packages that modules are of. */
function packagesOf(modules: readonly string[]): string[] {
  const names = modules.map((id) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id.replaceAll("\\", "/"))?.[1]);
  return [...new Set(names.filter((name) => name !== undefined))];
}

interface Manifest {
  name: string;
  version: string;
  license?: string;
  author?: string | { name: string };
}

function licenceOf(name: string): string {
  const folder = join("node_modules", name);
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
