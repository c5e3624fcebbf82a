import { choice, constant, kinds, number, record } from "../format/form.ts";
import { byteCount } from "../format/quantities.ts";
import { loadSection } from "./load-section.ts";
import type { ConfigContext } from "./read/places.ts";

/** What the configuration may say about the context of agents. */
export const CONTEXT = record({
  resources: kinds({ text: choice(["auto", "none"]), boolean: constant(false, `is not "auto" or "none"`) })
    .says("`auto`: resources with a high priority are given to the model; `none`: no resources.")
    .optional(),
  minPriority: number({ least: 0, most: 1 }).says("The smallest `annotations.priority`; default: 0.8.").optional(),
  budget: byteCount(`Use "16kB".`).says("The size of all resources together; default: 16kB.").optional(),
});

/** Which resources an agent gets as context. */
interface ContextSetting {
  /** Characters of all of them together. */
  budget: number;
  /** The smallest `annotations.priority`. */
  minPriority: number;
}

/** `"context": { "resources": "auto", "minPriority": 0.8, "budget": "16kB" }`; undefined if no resources are loaded. */
export async function findContextSetting(
  context: ConfigContext,
  explicit: string | undefined,
): Promise<ContextSetting | undefined> {
  const section = await loadSection("context", context, explicit);
  section.checkKeys(CONTEXT);
  const mode = section.read(CONTEXT, "resources")?.value;
  const minPriority = section.read(CONTEXT, "minPriority")?.value ?? 0.8;
  const budget = section.read(CONTEXT, "budget")?.value ?? 16_000;
  return mode === "auto" ? { budget, minPriority } : undefined;
}
