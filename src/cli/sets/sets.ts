import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import { SET, SET_MEMBERS, type SetDefinition, type SetItem } from "../../gateway/sets/set-definition.ts";
import { isRecord } from "../../json/is-record.ts";
import { parseJson } from "../../json/parse-json.ts";
import { requireValid } from "../../operations/client.ts";
import { SETS, type SetView } from "../../operations/sets.ts";
import { visible } from "../../text/visible.ts";
import { requireExactNumbers } from "../arguments/exact-number.ts";
import { jsonGiven } from "../arguments/json-given.ts";
import { keyValue } from "../arguments/key-value.ts";
import { wrongUsage } from "../command/command-line.ts";
import { defineCommand, type CommandContext, type Options, type OptionValues } from "../command/command.ts";
import { inputOf, allOptionsOf } from "../command/operation-options.ts";
import { showTable, type Cell } from "../output/table.ts";
import { openTenant, OPERATED_OPTIONS, tenantOption } from "../store/open-operations.ts";
import { operatedCommand, tenantCommand } from "../store/operated-command.ts";

const SET_OPTIONS = {
  tenant: tenantOption(" of the set"),
  ...OPERATED_OPTIONS,
} as const satisfies Options;

/** What a set contains and how it shows it. */
const DEFINITION_OPTIONS = {
  ...allOptionsOf(SET),
  rename: {
    type: "string",
    multiple: true,
    value: "server.tool=NAME",
    help: "the name of a tool in the set; repeatable",
  },
  describe: {
    type: "string",
    multiple: true,
    value: "server.tool=TEXT",
    help: "the description of a tool in the set; repeatable",
  },
  fix: {
    type: "string",
    multiple: true,
    value: "server.tool.argument=VALUE",
    help: "an argument that is the same in every call, as JSON or text; repeatable",
  },
  file: { type: "string", value: "FILE", help: "the definition as JSON; - for stdin" },
} as const satisfies Options;

type DefinitionValues = OptionValues<typeof DEFINITION_OPTIONS>;

type Written = Readonly<Record<string, unknown>>;

/** A new definition: that of the file, with what the options add. */
async function definitionIn(options: DefinitionValues): Promise<Written> {
  const written = options.file === undefined ? {} : await definitionOfFile(options.file);
  const { allow = [], deny } = options;
  return {
    ...changedMembers(written, options),
    allow: added(written["allow"] ?? [], allow),
    ...(written["deny"] === undefined && !deny ? {} : { deny: added(written["deny"] ?? [], deny) }),
  };
}

/** The definition of before, with what the options say instead. A file replaces all of it. */
async function changedDefinition(
  { name: _name, tenant: _tenant, path: _path, changed: _changed, description, ...before }: SetView,
  options: DefinitionValues,
): Promise<Written> {
  if (options.file !== undefined) return definitionIn(options);
  return changedMembers({ ...before, ...(description === null ? {} : { description }) }, options);
}

/** What an option says stands instead of what was written. */
function changedMembers(written: Written, options: DefinitionValues): Written {
  const tools = changedTools(written["tools"], options);
  return { ...written, ...inputOf(SET, options), ...(tools === undefined ? {} : { tools }) };
}

async function definitionOfFile(file: string): Promise<Record<string, unknown>> {
  const value = await jsonGiven(file === "-" ? file : `@${file}`, "--file");
  if (!isRecord(value))
    throw wrongUsage(`${file} is not the definition of a set`, `It is an object, such as {"allow": ["github"]}.`);
  return value;
}

/** What is wrong with the file's part is found when the whole is checked. */
function added(written: unknown, more: readonly string[] = []): unknown {
  return Array.isArray(written) ? [...(written as unknown[]), ...more] : written;
}

/** The tools of the file with what the options say; undefined if neither says anything. */
function changedTools(written: unknown, { rename = [], describe = [], fix = [] }: DefinitionValues): unknown {
  if (rename.length + describe.length + fix.length === 0) return written;
  if (written !== undefined && !isRecord(written)) return written;
  const tools: Record<string, unknown> = { ...written };
  const of = (key: string): Record<string, unknown> => {
    const before = tools[key];
    const item = isRecord(before) ? { ...before } : {};
    tools[key] = item;
    return item;
  };
  for (const text of rename) {
    const { key, value } = keyValue(text, "--rename");
    of(key)["name"] = value;
  }
  for (const text of describe) {
    const { key, value } = keyValue(text, "--describe");
    of(key)["description"] = value;
  }
  for (const text of fix) {
    const { key, value } = keyValue(text, "--fix");
    const dot = key.lastIndexOf(".");
    if (dot <= key.indexOf(".")) {
      throw wrongUsage(`--fix "${text}" names no argument`, "Write --fix server.tool.argument=VALUE.");
    }
    const item = of(key.slice(0, dot));
    const before = isRecord(item["arguments"]) ? item["arguments"] : {};
    item["arguments"] = { ...before, [key.slice(dot + 1)]: valueOf(value, text) };
  }
  return tools;
}

/** JSON if it is valid, otherwise text. */
function valueOf(given: string, option: string): unknown {
  const value = parseJson(given);
  if (value === undefined) return given;
  requireExactNumbers(given, `--fix ${option}`);
  // "1.10" may be a version, which is another one as a number.
  if (typeof value === "number" && String(value) !== given.trim()) {
    throw wrongUsage(
      `--fix ${option} is sent as the number ${value}`,
      `Write ${value} if a number is meant, or '${JSON.stringify(given)}' for the text.`,
    );
  }
  return value;
}

type Contents = Omit<SetDefinition, "description">;

/** The servers that a definition names, each once; not those that a pattern with * stands for. */
function namedServers({ allow, deny = [], tools = {}, prompts = {} }: Contents): string[] {
  const named = [...allow, ...deny, ...Object.keys(tools), ...Object.keys(prompts)];
  const servers = named.map((text) => text.split(/[./]/, 1)[0] ?? "");
  return [...new Set(servers)].filter((server) => !server.includes("*"));
}

/** The patterns and flags in one line. */
function contentText({ allow, deny = [], readOnly, pin }: Contents): string {
  const flags = [...(readOnly ? ["read-only"] : []), ...(pin ? ["pinned"] : [])];
  return [...allow, ...deny.map((pattern) => `not ${pattern}`), ...flags].join(", ");
}

/** What the set says about a tool or prompt, in one line. */
function itemText({ name, description, arguments: fixed = {} }: SetItem): string {
  const values = Object.entries(fixed).map(([argument, value]) => `${argument}=${JSON.stringify(value)}`);
  const parts = [
    ...(name === undefined ? [] : [`is called ${name}`]),
    ...(values.length === 0 ? [] : [`always with ${values.join(", ")}`]),
    ...(description === undefined ? [] : [`described as ${JSON.stringify(description)}`]),
  ];
  return parts.length === 0 ? "as it is" : parts.join("; ");
}

const ABOUT_TOOLS = `Tools keep their names of /mcp (github__search), so they stay when servers come and go; --rename gives one another name. A fixed
argument is sent with every call: callers neither see nor change it. It is stored as it is, so do not use it for secrets. A file
has the members ${new Intl.ListFormat("en-GB").format(Object.keys(SET_MEMBERS))}`;

/** nexus sets create support --allow github.search* */
export const setsCreate = defineCommand({
  usage:
    "nexus sets create <name> --allow PATTERN… [--deny PATTERN]… [--rename server.tool=NAME]… [--fix server.tool.argument=VALUE]…",
  description: `Creates a set: tools, resources and prompts of several servers for a purpose, served at /sets/<name>/mcp. Gateways on the same
database serve it within a second. Patterns are those of "nexus keys create"; a key may use the set with --allow set:NAME.

${ABOUT_TOOLS}; options add to it.`,
  options: {
    ...DEFINITION_OPTIONS,
    replace: { type: "boolean", help: "replace a set with the same name" },
    ...SET_OPTIONS,
  },
  examples: [
    ["nexus sets create support --allow github.search* --allow docs", "tools of one server and everything of another"],
    [
      "nexus sets create support --allow github.create_issue --rename github.create_issue=report --fix github.create_issue.repo=acme/desk",
      "one tool under another name, with a fixed argument",
    ],
    [
      "nexus sets create support --file support.json --replace --json",
      `{"name":"support","path":"/sets/support/mcp",…}`,
    ],
  ],

  async run(context) {
    const { out, words, options } = context;
    const [name = ""] = words;
    const { replace = false } = options;
    const definition = await definitionIn(options);
    requireValid(SETS.createSet, { ...definition, tenant: DEFAULT_TENANT, name });
    await using opened = await openTenant(context, { creates: true });
    const { client, tenant, again } = opened;
    const input = { ...definition, tenant, name };
    const isReplaced = replace && (await client.list(SETS.listSets, { tenant })).some((set) => set.name === name);
    const set = isReplaced ? await client.call(SETS.replaceSet, input) : await client.call(SETS.createSet, input);
    if (out.json) return out.value(set);
    const done = isReplaced ? "Replaced" : "Created";
    out.line(`${done} the set "${name}" of the tenant "${tenant}". Gateways serve it at ${set.path}.`);
    // The servers here are not those of a gateway elsewhere.
    for (const server of options.gateway === undefined ? await unknownServers(set, context) : []) {
      out.note(
        `There is no server "${server}" in the tenant "${tenant}" yet. The set has its tools when it is added. To see the servers: nexus mcp servers${again}`,
      );
    }
    if (!isReplaced) out.note(`A key for it: nexus keys create NAME --allow set:${name}${again}`);
  },
});

/** nexus sets edit support --allow github --rename github.search=find */
export const setsEdit = tenantCommand({
  usage: "nexus sets edit <name> [--allow PATTERN]… [--deny PATTERN]… [--rename server.tool=NAME]… [--file FILE]",
  description: `Changes a set; what no option names stays. --allow and --deny stand instead of all patterns of before; --rename, --describe and --fix
change what the set says about one tool. Gateways on the same database serve the change within a second. Only a file takes something
away, such as a fixed argument or --pin: it stands instead of the whole definition.

${ABOUT_TOOLS}.`,
  options: { ...DEFINITION_OPTIONS, ...SET_OPTIONS },
  examples: [
    ["nexus sets edit support --allow github.search* --allow docs", "other patterns; its names and arguments stay"],
    ["nexus sets edit support --rename github.search=find", "one tool gets another name"],
    ["nexus sets edit support --file support.json --json", `{"name":"support","path":"/sets/support/mcp",…}`],
  ],

  async does({ client, tenant }, { words: [name = ""], options }) {
    const before = await client.call(SETS.getSet, { tenant, name });
    return client.call(SETS.replaceSet, { ...(await changedDefinition(before, options)), tenant, name });
  },
  tell: (set, { out }) =>
    out.line(`Changed the set "${set.name}" of the tenant "${set.tenant}". It contains ${contentText(set)}.`),
});

/** nexus sets list */
export const setsList = operatedCommand({
  usage: "nexus sets list [--tenant NAME]",
  description: "Lists the sets of all tenants, or of one: name, tenant, and what they contain.",
  options: { ...SET_OPTIONS, tenant: { ...SET_OPTIONS.tenant, help: "only sets of this tenant" } },
  examples: [
    ["nexus sets list", "one set per line"],
    [
      "nexus sets list --tenant shop --json",
      `{"items":[{"name":"support","tenant":"shop","path":"/sets/support/mcp",…}]}`,
    ],
  ],

  async does({ client }, { options: { tenant } }) {
    const tenants = tenant === undefined ? await client.managedTenants() : [tenant];
    return { items: (await Promise.all(tenants.map((each) => client.list(SETS.listSets, { tenant: each })))).flat() };
  },
  tell({ items }, { out }, { again }) {
    const rows = items.map((set) => [set.name, set.tenant, contentText(set)]);
    showTable(out, rows, `There are no sets. Create one: nexus sets create NAME --allow PATTERN${again}`);
  },
});

/** nexus sets show support */
export const setsShow = tenantCommand({
  usage: "nexus sets show <name>",
  description: `Shows a set: its address, what it contains, and the tools and prompts that it shows in another way. Which tools its patterns
stand for depends on the servers; a client of the set sees them.`,
  options: SET_OPTIONS,
  examples: [
    ["nexus sets show support", "its patterns, names and fixed arguments"],
    ["nexus sets show support --json", `{"name":"support","allow":["github.search*"],"tools":{},…}`],
  ],

  does: ({ client, tenant }, { words: [name = ""] }) => client.call(SETS.getSet, { tenant, name }),
  tell({ name: _name, ...set }, { out }) {
    const { description, path, tenant } = set;
    showTable(out, [
      ["address", path],
      ["tenant", tenant],
      ...(description === null ? [] : [["description", visible(description)]]),
      ["contains", contentText(set)],
      ...itemRows("tool", set.tools),
      ...itemRows("prompt", set.prompts),
    ]);
  },
});

/** nexus sets remove support */
export const setsRemove = tenantCommand({
  usage: "nexus sets remove <name>",
  description: `Removes a set. Gateways on the same database answer its address with 404 within a second, and end its sessions and streams. Its
servers and the keys that may use it stay.`,
  options: SET_OPTIONS,
  examples: [
    ["nexus sets remove support", "the address is unknown from now on"],
    ["nexus sets remove support --tenant shop --json", `{"name":"support","tenant":"shop","removed":true}`],
  ],

  async does({ client, tenant }, { words: [name = ""] }) {
    await client.call(SETS.removeSet, { tenant, name });
    return { name, tenant, removed: true };
  },
  tell: ({ name, tenant }, { out }) => out.line(`Removed the set "${name}" of the tenant "${tenant}".`),
});

/** The servers that the definition names and that are not configured. None if the configuration cannot be read. */
async function unknownServers(
  set: SetView,
  context: CommandContext<{ tenant?: string | undefined }>,
): Promise<string[]> {
  const { tenant = DEFAULT_TENANT } = context.options;
  try {
    await using servers = await context.openServers({ tenant });
    return namedServers(set).filter((server) => !servers.directory.find(server));
  } catch {
    return [];
  }
}

function itemRows(kind: string, items: SetView["tools"] | SetView["prompts"]): Cell[][] {
  return Object.entries(items).map(([key, item]) => [visible(`${kind} ${key}`), visible(itemText(item))]);
}
