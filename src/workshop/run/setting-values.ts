import { nearestName } from "../../text/nearest-name.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { unfitSetting } from "../file/forms/secrets.ts";
import type { ToolFile } from "../file/model/tool-file.ts";

export type SettingValues = Readonly<Record<string, string>>;

/** The values of a file's settings from its server's entry; throws if one is missing or invalid. */
export function settingValues({ api, settings = {} }: ToolFile, given: SettingValues, server = api): SettingValues {
  const names = Object.keys(settings);
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(settings, name));
  const missing = names.filter((name) => !Object.hasOwn(given, name) && settings[name]?.default === undefined);
  const values = Object.entries(settings).flatMap(([name, { default: standard }]) => {
    const value = Object.hasOwn(given, name) ? given[name] : standard;
    return value === undefined ? [] : [[name, value] as const];
  });
  const unfit = values.flatMap(([name, value]) => {
    const spec = settings[name];
    const wrong = spec && unfitSetting(spec, value);
    return wrong === undefined ? [] : [`"${name}" ${wrong}`];
  });
  const problems = [
    ...missing.map((name) => `"${name}" is missing${about(settings[name]?.description)}`),
    ...unknown.map((name) => `"${name}" is not known${nearest(name, names)}`),
    ...unfit,
  ];
  if (problems.length === 0) return Object.fromEntries(values);
  throw new NexusError("CONFIG_INVALID", `The settings of "${server}" cannot be used: ${problems.join("; ")}`, {
    phase: "config",
    server,
    hint: names.length === 0 ? "Leave them out: its tool file has none." : `Write in its entry: ${sample(names)}`,
    mayHaveReached: false,
  });
}

/** For the fake and for checks: the values in the file. */
export function exampleSettings({ settings = {} }: ToolFile): SettingValues {
  return Object.fromEntries(
    Object.entries(settings).map(([name, { example, default: standard = "" }]) => [name, example ?? standard]),
  );
}

function about(description: string | undefined): string {
  return description === undefined ? "" : ` (${description.replace(/\.$/, "")})`;
}

function nearest(name: string, names: readonly string[]): string {
  const near = nearestName(name, names);
  return near === undefined ? "" : `: did you mean "${near}"?`;
}

function sample(names: readonly string[]): string {
  return `"settings": { ${names.map((name) => `"${name}": "…"`).join(", ")} }`;
}
