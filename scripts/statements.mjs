// Where the form of something that people write is stated by hand: once is right.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Visitor } from "oxc-parser";

/** What approvals cover is a format of its own: it stays as it is when the form of the tool file changes. */
const APPROVED_FORM = /^src\/workshop\/compile\/approved-form\.ts$/;

/**
 * A statement is one declaration that names at least `least` of the members: a type, an object (a table of fields, a schema,
 * a view that is put together), a list of names, a JSON Schema that is no generated file, or a function or class that reads
 * members by their names (`read("timeout")`, `entry["timeout"]`, `key === "timeout"`). `readOnly`, `read-only` and
 * `read_only` are one name. Destructuring is not a statement: it follows a declaration, and does not compile without it.
 * `least` is high enough that what has only some of the members is not counted, such as one value that a command writes.
 */
const FORMS = {
  setStatements: { least: 5, members: "description allow deny readOnly pin tools prompts" },
  entryStatements: {
    least: 8,
    members: `command args cwd workdir env envFile env_passthrough url headers api upstream settings transport timeout
      connection_timeout http_max_retries http_retry_backoff roots oauth enabled disabled auto_start fail_if_no_tools
      agents pin isolation prefix max_processes max_memory ca public_only`,
  },
  toolFileStatements: {
    least: 9,
    members: `nexus api title description version documents upstream namespaces secrets settings types tools fake
      questions`,
    except: APPROVED_FORM,
  },
  toolStatements: {
    least: 8,
    members: `title description effect meta input unknown request paging steps response errors outcomeUnknown limits
      confirm examples checks evidence offer`,
    except: APPROVED_FORM,
  },
  /** An operation, shown by the operations on keys: what callers give and get. The store keeps rows, which are its own. */
  operationStatements: {
    least: 6,
    members: "id name tenant role allow deny readOnly limits allTenants created expires revoked lastUsed",
    except: /^src\/store\//,
  },
};

export const STATEMENT_LABELS = {
  setStatements: "statements of the form of a set",
  entryStatements: "statements of the form of a server entry",
  toolFileStatements: "statements of the form of a tool file",
  toolStatements: "statements of the form of a tool in it",
  operationStatements: "statements of what operations on keys take and answer",
};

/** The statements of each form, as `file:line`. `files`: programs by name, each with its text. */
export function findStatements(files) {
  const declarations = [...files].flatMap(([file, { text, program }]) =>
    declarationsIn(program).map(({ start, names }) => ({ file, line: lineAt(text, start), names })),
  );
  for (const file of readdirSync("schemas")) declarations.push(...declarationsInSchema(join("schemas", file)));
  return Object.fromEntries(
    Object.entries(FORMS).map(([form, { least, members, except }]) => {
      const known = new Set(members.split(/\s+/).map(plainName));
      const isStatement = ({ file, names }) =>
        !except?.test(file) && new Set(names.map(plainName).filter((name) => known.has(name))).size >= least;
      return [form, declarations.filter(isStatement).map(({ file, line }) => `${file}:${line}`)];
    }),
  );
}

/** Every declaration of a program with the names in it. */
function declarationsIn(program) {
  const found = [];
  const add = ({ start }, names) => found.push({ start, names: names.filter((name) => name !== undefined) });
  const readers = [];
  const enter = () => readers.push([]);
  const exit = (node) => add(node, readers.pop());
  const reads = (node) => {
    if (isText(node)) for (const names of readers) names.push(node.value);
  };
  new Visitor({
    TSInterfaceBody: (node) => add(node, node.body.map(keyName)),
    TSTypeLiteral: (node) => add(node, node.members.map(keyName)),
    TSUnionType: (node) =>
      add(
        node,
        node.types.map(({ literal }) => textOf(literal)),
      ),
    ObjectExpression: (node) => add(node, node.properties.map(keyName)),
    ArrayExpression: (node) => add(node, node.elements.map(textOf)),
    ClassDeclaration: enter,
    "ClassDeclaration:exit": exit,
    FunctionDeclaration: enter,
    "FunctionDeclaration:exit": exit,
    CallExpression: (node) => reads(node.arguments[0]),
    MemberExpression: ({ property, computed }) => computed && reads(property),
    BinaryExpression: ({ operator, right }) => operator === "===" && reads(right),
    SwitchCase: ({ test }) => reads(test),
  }).visit(program);
  return found;
}

function declarationsInSchema(file) {
  const schema = JSON.parse(readFileSync(file, "utf8"));
  if (String(schema.$comment).startsWith("Generated")) return [];
  const found = [];
  const visit = (value) => {
    if (typeof value !== "object" || value === null) return;
    found.push({ file, line: 1, names: Object.keys(value) });
    for (const each of Object.values(value)) visit(each);
  };
  visit(schema);
  return found;
}

function keyName({ key, computed }) {
  if (key === undefined || computed) return undefined;
  return key.type === "Identifier" ? key.name : textOf(key);
}

function textOf(node) {
  return isText(node) ? node.value : undefined;
}

function isText(node) {
  return node?.type === "Literal" && typeof node.value === "string";
}

function plainName(name) {
  return name.replaceAll(/[-_]/g, "").toLowerCase();
}

function lineAt(text, offset) {
  return text.slice(0, offset).split("\n").length;
}
