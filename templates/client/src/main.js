// Connects to a server, and prints what it found: node src/main.js [command or URL of a server]
import { fileURLToPath } from "node:url";
import { connect, NexusError } from "nexus-mcp";
import { summary } from "./summary.js";

/** The demo server of the package, if none is named. */
const DEMO = fileURLToPath(new URL("demo/main.js", import.meta.resolve("nexus-mcp")));
const [given, ...args] = process.argv.slice(2);

const server =
  given === undefined
    ? { command: process.execPath, args: [DEMO] }
    : URL.canParse(given)
      ? { url: given }
      : { command: given, args };

try {
  const client = await connect(server);
  console.log(await summary(client).finally(() => client.close()));
} catch (error) {
  // Errors of Nexus say what happened, and what to do.
  console.error(error instanceof NexusError ? [error.message, error.hint].filter(Boolean).join("\n") : error);
  process.exitCode = 1;
}
