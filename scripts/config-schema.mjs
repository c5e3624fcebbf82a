// schemas/config.schema.json from the form of configuration files. --check: compares only.
import { readFileSync, writeFileSync } from "node:fs";
import { loadSources } from "./forms.mjs";

const FILE = "schemas/config.schema.json";

const { CONFIG, jsonSchema } = await loadSources(["src/config/config-form.ts", "src/format/json-schema.ts"]);
const schema = {
  $comment: "Generated from src/config/config-form.ts by npm run reference.",
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "A configuration file of Nexus",
  ...jsonSchema(CONFIG),
};
const text = `${JSON.stringify(schema, null, 2)}\n`;

if (!process.argv.includes("--check")) writeFileSync(FILE, text);
else if (readFileSync(FILE, "utf8") !== text) {
  console.error(`${FILE} is not what the form says: npm run reference`);
  process.exitCode = 1;
}
