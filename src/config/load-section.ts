import { explicitly, missingFile } from "./load.ts";
import { candidates, type ConfigContext } from "./read/places.ts";
import { loadText, parseSource } from "./read/read-source.ts";
import { findMember } from "../source/source-node.ts";
import { SettingsSection } from "./settings-section.ts";

/**
 * One section of the configuration without its servers: of the explicit file, or else of the user's files. Project files are
 * ignored, also trusted ones, because trust covers only their servers.
 */
export async function loadSection(
  name: string,
  context: ConfigContext,
  explicit: string | undefined,
): Promise<SettingsSection> {
  const places = explicit === undefined ? candidates(context) : [explicitly(explicit, context)];
  const section = new SettingsSection(name);
  for (const { file, layer } of places.filter((place) => place.layer === "user" || place.layer === "explicit")) {
    const text = await loadText(file);
    if (text === undefined && layer === "explicit") throw missingFile(file);
    if (text !== undefined) section.add(await parseSource(text, file), file);
  }
  return section;
}

/** The strongest file of a project that has a section which is ignored there; for hints, so a broken file is not reported. */
export async function findIgnoredSection(name: string, context: ConfigContext): Promise<string | undefined> {
  for (const { file, layer } of candidates(context)) {
    if (layer === "user") continue;
    try {
      const text = await loadText(file);
      if (text !== undefined && findMember(await parseSource(text, file), name)) return file;
    } catch {
      // What is wrong with the file is reported where its servers are read.
    }
  }
  return undefined;
}
