import { createServer } from "node:http";

const SESSION = "11111111-2222-4333-8444-555555555555";

/** The least an MCP server over Streamable HTTP can do: JSON at /mcp, event streams at /events. */
export function serveHttp(respond) {
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
      const text = respond(message);
      if (text === undefined) response.writeHead(202).end();
      else send(response, { text, events: request.url === "/events", opens: message.method === "initialize" });
    });
  });
  server.keepAliveTimeout = 60_000;
  server.listen(0, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${server.address().port}/mcp`));
  process.once("disconnect", () => process.exit());
}

function send(response, { text, events, opens }) {
  const body = events ? `event: message\ndata: ${text}\n\n` : text;
  const headers = {
    "content-type": events ? "text/event-stream" : "application/json",
    "content-length": Buffer.byteLength(body),
  };
  if (opens) headers["mcp-session-id"] = SESSION;
  response.writeHead(200, headers).end(body);
}
