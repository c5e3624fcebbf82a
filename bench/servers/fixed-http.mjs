// Answers every request with the same document: node fixed-http.mjs <case>. GET /last tells what the last request was.
import { createServer } from "node:http";
import { answerOf } from "../workshop/cases.mjs";

const { type, body } = await answerOf(process.argv[2]);
const headers = { "content-type": type, "content-length": body.length };
let last;

const server = createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    if (request.url === "/last") return void response.end(JSON.stringify(last));
    last ??= {
      path: request.url,
      method: request.method,
      headers: sentHeaders(request.headers),
      body: Buffer.concat(chunks).toString(),
    };
    response.writeHead(200, headers).end(body);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${server.address().port}/`));
process.once("disconnect", () => process.exit());

/** Those that whoever asks writes himself. */
function sentHeaders({ host: _host, connection: _connection, "content-length": _length, ...headers }) {
  return headers;
}
