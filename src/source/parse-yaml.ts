// A file of its own because yaml is CommonJS: what the bundler needs to load that is not loaded with every client.
import { parseBoundedYaml } from "./bounded-yaml.ts";

/** The value of a YAML text that a server sent. Throws where it is not valid, or nested too deeply. */
export function parseYaml(text: string): unknown {
  const document = parseBoundedYaml(text);
  const [error] = document.errors;
  if (error) throw error;
  return document.toJS({ maxAliasCount: 100 });
}
