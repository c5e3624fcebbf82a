// Connects to a server, and prints what it found: node src/main.js [command or URL of a server]
import { fileURLToPath } from "node:url";
import { connect } from "nexus-mcp";
import { summary } from "./summary.js";

/** The demo server of the package, if none is named. */
const DEMO = fileURLToPath(new URL("demo/main.js", import.meta.resolve("nexus-mcp")));
const [given, ...args] = process.argv.slice(2);

const client = await connect(
  given === undefined
    ? { command: process.execPath, args: [DEMO] }
    : URL.canParse(given)
      ? { url: given }
      : { command: given, args },
);
try {
  console.log(await summary(client));
} finally {
  await client.close();
}
