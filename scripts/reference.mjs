// Writes docs/reference/library.md and a page for each entry from the emitted declarations; `--check` fails where a file is
// not what it would write.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { parseSync } from "oxc-parser";
import { loadExportedForms, loadForms, membersText, typeText } from "./forms.mjs";

const INDEX = "docs/reference/library.md";
const PAGES = "docs/reference/library";

const ENTRIES = [
  {
    name: "nexus-mcp",
    file: "dist/index.d.ts",
    about: "The library. [The guide](../../guide/client.md) explains how it is used.",
  },
  {
    name: "nexus-mcp/client",
    file: "dist/client/web/index.d.ts",
    about:
      "The client alone, for browsers, workers and other runtimes. [The guide](../../guide/client.md#in-a-browser) explains how it is used.",
  },
  {
    name: "nexus-mcp/agent",
    file: "dist/agent/index.d.ts",
    about: "An agent. [The guide](../../guide/agent.md) explains how it is used.",
  },
  {
    name: "nexus-mcp/gateway",
    file: "dist/gateway/index.d.ts",
    about: "The gateway. [The guide](../../guide/gateway.md) explains how it is used.",
  },
  {
    name: "nexus-mcp/server",
    file: "dist/server/index.d.ts",
    about: "MCP servers of your own. [The guide](../../guide/server.md) explains how they are written.",
  },
  {
    name: "nexus-mcp/workshop",
    file: "dist/workshop/index.d.ts",
    about: "API documentation to servers. [The worked example](../../guide/capcorn.md) shows how.",
  },
  {
    name: "nexus-mcp/testing",
    file: "dist/testing/index.d.ts",
    about: "Servers and a model for the tests of your own program. [The guide](../../guide/testing.md) has examples.",
  },
];

/** Which heading a declaration stands under, by the file it comes from. */
const GROUPS = [
  [/^index/, "Connecting"],
  [/^client\/client\./, "The client"],
  [/^(client\/schema-|schema\/)/, "Checking arguments and results"],
  [/^(client|async|text)\//, "What a client takes and tells"],
  [/^auth\//, "Authorization"],
  [/^host\//, "The host"],
  [/^config\//, "Configuration"],
  [/^errors\//, "Errors"],
  [/^(auth\/|transport\/credential-source)/, "Protected servers"],
  [/^(transport|process|net|files)\//, "Servers and transports"],
  [/^protocol\/json-rpc/, "JSON-RPC"],
  [/^protocol\//, "MCP"],
  [/^agent\//, "The agent"],
  [/^gateway\//, "The gateway"],
  [/^(workshop|format)\//, "The workshop"],
  [/^server\//, "The server side"],
  [/^testing\//, "Scripted servers and models"],
];

/** Types that are derived from a form, which has the name of the type: the members are shown. */
const forms = new Map([
  ...(await loadForms("src/gateway/sets/set-definition.ts")),
  ...(await loadForms("src/transport/entry-form.ts")),
]);

/** The forms of the tool file: types say which one they are derived from. */
const FORMS = "workshop/file/forms";
const formFiles = readdirSync(`src/${FORMS}`).filter((file) => !file.endsWith(".test.ts"));
const toolForms = await loadExportedForms(formFiles.map((file) => `src/${FORMS}/${file}`));
const names = typeNames();

const files = render();
if (!process.argv.includes("--check")) {
  rmSync(PAGES, { recursive: true, force: true });
  mkdirSync(PAGES, { recursive: true });
  for (const [file, text] of files) writeFileSync(file, text);
} else {
  const there = [INDEX, ...(existsSync(PAGES) ? readdirSync(PAGES).map((name) => `${PAGES}/${name}`) : [])];
  const isSame = (file) => files.has(file) && existsSync(file) && readFileSync(file, "utf8") === files.get(file);
  const wrong = [...new Set([...files.keys(), ...there])].filter((file) => !isSame(file));
  if (wrong.length > 0) {
    console.error(
      `${wrong.join(", ")}: not what the declarations say. Run: npm run build && node scripts/reference.mjs`,
    );
    process.exit(1);
  }
}

/** The text of each file. What several entries have is described at the first of them. */
function render() {
  const described = new Map();
  const generated = "Generated from the declarations by `scripts/reference.mjs`; do not edit.";
  const pages = ENTRIES.map(({ name, file, about }) => {
    const page = `${name.split("/").at(-1)}.md`;
    const exported = [...exportsOf(file)].map(([as, found]) => ({ as, ...found }));
    const known = exported
      .filter(({ as }) => described.has(as))
      .map(({ as }) => `[${as}](${described.get(as)}#${as.toLowerCase()})`);
    const fresh = exported.filter(({ as }) => !described.has(as));
    for (const { as } of fresh) described.set(as, page);
    const groups = GROUPS.map(([, title]) => title).flatMap((title) => {
      const members = fresh.filter(({ from }) => groupOf(from) === title);
      return members.length === 0 ? [] : [`## ${title}`, ...members.sort(byKind).map(describe)];
    });
    const again = known.length > 0 ? [`It has these, too: ${known.join(", ")}.`] : [];
    return [`${PAGES}/${page}`, `${[`# \`${name}\``, generated, about, ...again, ...groups].join("\n\n")}\n`];
  });
  const lines = ENTRIES.map(({ name, about }) => {
    const words = about.replaceAll("](../../", "](../");
    return `| [\`${name}\`](library/${name.split("/").at(-1)}.md) | ${words} |`;
  });
  const index = ["# Library reference", generated, ["| entry | what it is |", "|---|---|", ...lines].join("\n")];
  return new Map([[INDEX, `${index.join("\n\n")}\n`], ...pages]);
}

function groupOf(file) {
  const place = relative("dist", file).replaceAll("\\", "/");
  const group = GROUPS.find(([pattern]) => pattern.test(place));
  if (!group) throw new Error(`scripts/reference.mjs has no group for ${place}`);
  return group[1];
}

/** Functions and classes first: they are what one begins with. */
function byKind(a, b) {
  const order = ["function", "class", "const", "interface", "type"];
  return order.indexOf(a.kind) - order.indexOf(b.kind);
}

function describe({ as, doc, code }) {
  return [`### ${as}`, ...(doc ? [doc] : []), `\`\`\`ts\n${code}\n\`\`\``].join("\n\n");
}

/** What a file exports: name → where it is declared, its comment, its code. */
function exportsOf(file) {
  const { source, program, comments } = parse(file);
  const found = new Map();
  for (const node of program.body) {
    const from = node.source ? join(dirname(file), node.source.value.replace(/\.[jt]s$/, ".d.ts")) : undefined;
    if (node.type === "ExportAllDeclaration") {
      const typesOnly = node.exportKind === "type";
      for (const [name, declared] of exportsOf(from)) {
        if (!typesOnly || declared.kind === "interface" || declared.kind === "type") found.set(name, declared);
      }
    } else if (node.type === "ExportNamedDeclaration" && node.declaration) {
      for (const [name, declared] of declarations(node, { source, comments, file })) found.set(name, declared);
    } else if (node.type === "ExportNamedDeclaration") {
      for (const { local, exported } of node.specifiers) found.set(exported.name, lookUp(from ?? file, local.name));
    }
  }
  return found;
}

function lookUp(file, name) {
  const declared = exportsOf(file).get(name);
  if (!declared) throw new Error(`${file} does not export ${name}`);
  return declared;
}

function* declarations(node, { source, comments, file }) {
  const { declaration } = node;
  const ids = declaration.declarations?.map(({ id }) => id.name) ?? [declaration.id.name];
  const kind = kindOf(declaration);
  const derived = kind === "type" ? derivedCode(ids[0], source.slice(node.start, node.end)) : undefined;
  const code = derived ?? publicPart(node, { source, comments });
  for (const name of ids)
    yield [
      name,
      {
        from: file,
        kind: derived?.startsWith("interface") ? "interface" : kind,
        code,
        doc: docBefore(node.start, source, comments),
      },
    ];
}

/** The declaration of a type that is derived from forms; undefined if it is none. */
function derivedCode(name, code) {
  if (!/Infer<|Omit<Written/.test(code)) return undefined;
  const form = toolForms[/= Infer<typeof (\w+)>;?$/.exec(code)?.[1]];
  if (form) return typeText(name, form, { names });
  if (forms.has(name)) return typeText(name, forms.get(name), { isGiven: true });
  return code
    .replace(/^export (declare )?/, "")
    .replaceAll(/Infer<typeof (\w+)>/g, (inferred, id) =>
      toolForms[id] ? membersText(toolForms[id], { names }) : inferred,
    );
}

/** The names of types by the forms that they are derived from. */
function typeNames() {
  const model = readFileSync("dist/workshop/file/model/tool-file.d.ts", "utf8");
  const derived = model.matchAll(/export type (\w+) = Infer<typeof (\w+)>;/g);
  return new Map([...derived].map(([, type, id]) => [toolForms[id]?.spec, type]));
}

function kindOf({ type, kind }) {
  if (type === "VariableDeclaration") return kind;
  return (
    { ClassDeclaration: "class", TSDeclareFunction: "function", TSInterfaceDeclaration: "interface" }[type] ?? "type"
  );
}

/** The declaration without what is private, and without words that say only that it is one. */
function publicPart({ start, end, declaration }, { source, comments }) {
  const isHidden = ({ accessibility, key }) => accessibility === "private" || key?.type === "PrivateIdentifier";
  const hidden = declaration.type === "ClassDeclaration" ? declaration.body.body.filter(isHidden) : [];
  let code = "";
  let position = start;
  for (const member of hidden) {
    const comment = commentBefore(member.start, source, comments);
    code += source.slice(position, comment?.start ?? member.start);
    position = member.end;
  }
  code += source.slice(position, end);
  return code
    .replace(/^export (declare )?/, "")
    .replaceAll(/\n\s*(?=\n)/g, "")
    .replaceAll(/^( {4})+/gm, (indent) => indent.slice(indent.length / 2));
}

function docBefore(position, source, comments) {
  const comment = commentBefore(position, source, comments);
  if (!comment) return undefined;
  return comment.value
    .slice(1)
    .split("\n")
    .map((line) => line.replace(/^\s*\* ?/, "").trim())
    .join("\n")
    .trim();
}

/** The doc comment that ends where this begins. */
function commentBefore(position, source, comments) {
  return comments.find(
    ({ type, value, end }) =>
      type === "Block" && value.startsWith("*") && end <= position && source.slice(end, position).trim() === "",
  );
}

function parse(file) {
  if (!existsSync(file)) throw new Error(`${file} is missing. Run: npm run build`);
  const source = readFileSync(file, "utf8");
  const { program, comments, errors } = parseSync(file, source);
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`);
  return { source, program, comments };
}
