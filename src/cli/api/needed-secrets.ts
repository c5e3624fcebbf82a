import { filledPlaces } from "../../workshop/file/model/filled-template.ts";
import { fieldsInName, secretNames } from "../../workshop/file/model/secret-names.ts";
import type { ToolFile } from "../../workshop/file/model/tool-file.ts";

/** The names under which its secrets have to be stored for a server; default: a server with the name of the API. */
export function neededSecrets({ api, secrets }: ToolFile, server = api): string[] {
  return [...new Set(Object.values(secrets).flatMap(secretNames))].map((name) => `${server}.${name}`);
}

/** The command that stores a secret. A name with a placeholder stands for many; the command is an example then. */
export function setCommand(name: string, { fake }: ToolFile): string {
  const fields = fieldsInName(name);
  if (fields.length === 0) return `nexus secrets set ${name}`;
  const [server = "", ...rest] = name.split(".");
  const example = Object.keys(fake.secrets).find((each) => filledPlaces(rest.join("."), each) !== undefined);
  const filled = example === undefined ? name.replaceAll(/\{\w+\}/g, "1") : `${server}.${example}`;
  return `nexus secrets set ${filled} (an example: set one secret for each ${fields.join(" and ")})`;
}
