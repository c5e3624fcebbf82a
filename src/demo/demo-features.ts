import type { Features } from "../server/plain/features.ts";
import { demoPrompts } from "./demo-prompts.ts";
import { demoResources, demoTemplates } from "./demo-resources.ts";
import { demoTools } from "./demo-tools.ts";

/** What the demo server offers: a little of everything, each thing small enough to read. */
export function demoFeatures(): Features {
  return { tools: demoTools(), resources: demoResources(), templates: demoTemplates(), prompts: demoPrompts() };
}
