import { DEFAULT_TENANT } from "../../auth/server-instance.ts";
import { SETS, type SetView } from "../../operations/sets.ts";
import { isRecord } from "../../json/is-record.ts";
import { parseJson } from "../../json/parse-json.ts";
import { requireExactNumbers } from "../arguments/exact-number.ts";
import { jsonGiven } from "../arguments/json-given.ts";
import { keyValue } from "../arguments/key-value.ts";
import { wrongUsage } from "../command/command-line.ts";
import type { Options } from "../command/command.ts";
import { inputOf, optionsOf } from "../command/operation-options.ts";
import { OPERATED_OPTIONS } from "../store/open-operations.ts";

export const SET_OPTIONS = {
  tenant: { type: "string", value: "NAME", help: `the tenant of the set; default: ${DEFAULT_TENANT}` },
  ...OPERATED_OPTIONS,
} as const satisfies Options;

/** What a set contains and how it shows it. */
export const DEFINITION_OPTIONS = {
  ...optionsOf(SETS.createSet.input, {
    allow: ["PATTERN", "what the set contains; repeatable"],
    deny: ["PATTERN", "what it does not contain; repeatable"],
    readOnly: [""],
    description: ["TEXT"],
    pin: [""],
  }),
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

interface DefinitionValues {
  readonly allow?: readonly string[] | undefined;
  readonly deny?: readonly string[] | undefined;
  readonly rename?: readonly string[] | undefined;
  readonly describe?: readonly string[] | undefined;
  readonly fix?: readonly string[] | undefined;
  readonly file?: string | undefined;
}

type Written = Readonly<Record<string, unknown>>;

/** A new definition: that of the file, with what the options add. */
export async function definitionIn(options: DefinitionValues): Promise<Written> {
  const written = options.file === undefined ? {} : await definitionOfFile(options.file);
  const { allow = [], deny } = options;
  return {
    ...changedMembers(written, options),
    allow: added(written["allow"] ?? [], allow),
    ...(written["deny"] === undefined && !deny ? {} : { deny: added(written["deny"] ?? [], deny) }),
  };
}

/** The definition of before, with what the options say instead. A file replaces all of it. */
export async function changedDefinition(
  { name: _name, tenant: _tenant, path: _path, changed: _changed, description, ...before }: SetView,
  options: DefinitionValues,
): Promise<Written> {
  if (options.file !== undefined) return definitionIn(options);
  return changedMembers({ ...before, ...(description === null ? {} : { description }) }, options);
}

/** What an option says stands instead of what was written. */
function changedMembers(written: Written, options: DefinitionValues): Written {
  const tools = changedTools(written["tools"], options);
  return { ...written, ...inputOf(SETS.createSet.input, options), ...(tools === undefined ? {} : { tools }) };
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
