// standaloneSseWithGetStreamableHttp: a resource more every five seconds; clients that listen are told.
import { randomUUID } from "node:crypto";
import { McpServer, serveHttp } from "nexus-mcp/server";

const server = new McpServer({ name: "changing-resources", version: "1.0.0" });
const add = (name, text) =>
  server.resource(
    `https://mcp-example.com/dynamic/${encodeURIComponent(name)}`,
    { name, mimeType: "text/plain", description: `Added while the server runs: ${name}` },
    () => text,
  );

add("example-resource", "The first content");
const adding = setInterval(() => {
  const name = randomUUID();
  add(name, `Content of ${name}`);
}, 5000);

const serving = await serveHttp(server, { port: Number(process.env.PORT ?? 3000) });
console.log(`Listening on ${serving.url}`);
process.once("SIGINT", () => {
  clearInterval(adding);
  void serving.close();
});
