// npm run bench -- <subject> [options]
import { parseArgs } from "node:util";
import { compareClients } from "./client/compare.mjs";

const SUBJECTS = { client: compareClients };

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    profile: { type: "boolean", default: false },
    transport: { type: "string" },
    era: { type: "string" },
  },
});
const subject = SUBJECTS[positionals[0]];
if (!subject) {
  console.error(
    `usage: npm run bench -- <${Object.keys(SUBJECTS).join("|")}> [--quick] [--profile] [--transport stdio|http] [--era legacy|modern]`,
  );
  process.exit(2);
}
await subject(options);
