// The least an MCP server over Streamable HTTP can do, in both eras: what is measured is the client.
import { createServer } from "node:http";
import { answer } from "./echo.mjs";

const SESSION = "11111111-2222-4333-8444-555555555555";

const server = createServer((request, response) => {
  if (request.method !== "POST") {
    request.resume();
    response.writeHead(request.method === "DELETE" ? 200 : 405).end();
    return;
  }
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (chunk) => (body += chunk));
  request.on("end", () => {
    const message = JSON.parse(body);
    const reply = answer(message);
    if (!reply) {
      response.writeHead(202).end();
      return;
    }
    const text = JSON.stringify(reply);
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(text) };
    if (message.method === "initialize") headers["mcp-session-id"] = SESSION;
    response.writeHead(200, headers).end(text);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${server.address().port}/mcp`));
process.once("disconnect", () => process.exit());
