import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import { isRecord } from "../../json/is-record.ts";
import { parseJson } from "../../json/parse-json.ts";
import { requireExactNumbers } from "../arguments/exact-number.ts";
import { jsonGiven } from "../arguments/json-given.ts";
import { keyValue } from "../arguments/key-value.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { SetDefinition } from "../../gateway/sets/set-definition.ts";
import { defineCommand, type CommandContext } from "../command/command.ts";
import { gatewayAgain, openOperated } from "../store/operated-store.ts";
import { tenantAgain } from "../store/tenant-state.ts";
import { setPath, setView } from "../../team/operate/set-view.ts";
import { namedServers, SET_OPTIONS } from "./set-words.ts";

interface Changes {
  readonly rename?: readonly string[] | undefined;
  readonly describe?: readonly string[] | undefined;
  readonly fix?: readonly string[] | undefined;
}

/** nexus sets create support --allow github.search* */
export const setsCreate = defineCommand({
  usage:
    "nexus sets create <name> --allow PATTERN… [--deny PATTERN]… [--rename server.tool=NAME]… [--fix server.tool.argument=VALUE]…",
  description: `Creates a set: tools, resources and prompts of several servers for a purpose, served at /sets/<name>/mcp. Gateways on the same
database serve it within a second. Patterns are those of "nexus keys create"; a key may use the set with --allow set:NAME.

Tools keep their names of /mcp (github__search), so they stay when servers come and go; --rename gives one another name. A fixed
argument is sent with every call: callers neither see nor change it. It is stored as it is, so do not use it for secrets. A file
has the members description, allow, deny, readOnly, pin, tools and prompts; options add to it.`,
  words: { min: 1, max: 1 },
  options: {
    allow: { type: "string", multiple: true, value: "PATTERN", help: "what the set contains; repeatable" },
    deny: { type: "string", multiple: true, value: "PATTERN", help: "what it does not contain; repeatable" },
    "read-only": { type: "boolean", help: "only tools that are annotated as read-only, resources and prompts" },
    description: { type: "string", value: "TEXT", help: "what it is for; clients get it as instructions" },
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
    pin: { type: "boolean", help: "refuse tools whose definitions have changed until the changes are accepted" },
    file: { type: "string", value: "FILE", help: "the definition as JSON; - for stdin" },
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
    const { tenant = DEFAULT_TENANT, replace } = options;
    const written = options.file === undefined ? {} : await definitionIn(options.file);
    const tools = changedTools(written["tools"], options);
    const { description, "read-only": readOnly, pin } = options;
    const { parseSetDefinition } = await import("../../gateway/sets/set-definition.ts");
    const definition = parseSetDefinition({
      ...written,
      ...(description === undefined ? {} : { description }),
      allow: added(written["allow"] ?? [], options.allow),
      ...(written["deny"] === undefined && !options.deny ? {} : { deny: added(written["deny"] ?? [], options.deny) }),
      ...(readOnly ? { readOnly } : {}),
      ...(pin ? { pin } : {}),
      ...(tools === undefined ? {} : { tools }),
    });
    await using store = await openOperated(context, { creates: true });
    const set = await store.sets.put({ tenant, name, definition: JSON.stringify(definition) }, { replace });
    if (out.json) return out.value(setView(set));
    const done = set.isReplaced ? "Replaced" : "Created";
    out.line(`${done} the set "${name}" of the tenant "${tenant}". Gateways serve it at ${setPath(name)}.`);
    const { gateway } = options;
    const again = gateway === undefined ? tenantAgain(tenant, options.database) : gatewayAgain({ gateway, tenant });
    // The servers here are not those of a gateway elsewhere.
    for (const server of gateway === undefined ? await unknownServers(definition, context) : []) {
      out.note(
        `There is no server "${server}" in the tenant "${tenant}" yet. The set has its tools when it is added. To see the servers: nexus mcp servers${again}`,
      );
    }
    if (!set.isReplaced) out.note(`A key for it: nexus keys create NAME --allow set:${name}${again}`);
  },
});

/** The servers that the definition names and that are not configured. None if the configuration cannot be read. */
async function unknownServers(
  definition: SetDefinition,
  context: CommandContext<{ tenant?: string | undefined }>,
): Promise<string[]> {
  const { tenant = DEFAULT_TENANT } = context.options;
  try {
    await using servers = await context.openServers({ tenant });
    return namedServers(definition).filter((server) => !servers.directory.find(server));
  } catch {
    return [];
  }
}

async function definitionIn(file: string): Promise<Record<string, unknown>> {
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
function changedTools(written: unknown, { rename = [], describe = [], fix = [] }: Changes): unknown {
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
