import { plainValue } from "../source/source-node.ts";
import { parseByteSize } from "../text/byte-size.ts";
import { loadSection } from "./load-section.ts";
import type { ConfigContext } from "./read/places.ts";

/** Which resources an agent gets as context. */
export interface ContextSetting {
  /** Characters of all of them together. */
  budget: number;
  /** The smallest `annotations.priority`. */
  minPriority: number;
}

const DEFAULTS: ContextSetting = { budget: 16_000, minPriority: 0.8 };

/** `"context": { "resources": "auto", "minPriority": 0.8, "budget": "16kB" }`; undefined if no resources are loaded. */
export async function findContextSetting(
  context: ConfigContext,
  explicit: string | undefined,
): Promise<ContextSetting | undefined> {
  const section = await loadSection("context", context, explicit);
  section.checkKeys(["resources", "minPriority", "budget"]);
  const resources = section.find("resources");
  const mode = resources && plainValue(resources.node);
  if (resources && mode !== "auto" && mode !== "none" && mode !== false) {
    throw section.invalid(resources, `is not "auto" or "none"`);
  }
  const priority = section.find("minPriority");
  const minPriority = priority ? plainValue(priority.node) : DEFAULTS.minPriority;
  if (priority && !(typeof minPriority === "number" && minPriority >= 0 && minPriority <= 1)) {
    throw section.invalid(priority, "is not a number from 0 to 1");
  }
  const size = section.find("budget");
  const budget = size ? parseByteSize(plainValue(size.node)) : DEFAULTS.budget;
  if (size && budget === undefined) throw section.invalid(size, "is not a size", `Use "16kB".`);
  if (mode !== "auto" || budget === undefined) return undefined;
  return { budget, minPriority: Number(minPriority) };
}
