import { expect, test } from "vitest";
import { inPlaceName } from "./in-place.ts";

test.each([
  ["https://mcp.example.com/mcp", "mcp.example.com"],
  ["https://ann:secret@mcp.example.com:8443/mcp?key=secret", "mcp.example.com:8443"],
  ["http://127.0.0.1:3000/mcp", "localhost:3000"],
  ["http://[::1]:3000/mcp", "localhost:3000"],
  ["${BASE}/mcp", "server"],
  ["https://${HOST}/mcp", "server"],
])("the server at %s is called %s", (url, name) => {
  expect(inPlaceName({ url })).toBe(name);
});

test.each([
  ["notes-server", "notes-server"],
  ["/usr/local/bin/notes-server --key secret", "notes-server"],
  ["C:\\tools\\notes.exe", "notes"],
  ["node dist/server.js --port 80", "server.js"],
  ["/usr/bin/node server.js", "server.js"],
  ["npx -y @scope/server-files@1.2.0 /data", "server-files"],
  ["uvx mcp-server-git", "mcp-server-git"],
  ["uv run server.py", "server.py"],
  ["python3 -m notes.server", "notes.server"],
  ["docker run -i --rm example/notes:1", "notes:1"],
  ["docker run -i -e TOKEN=secret example/notes", "docker"],
  ["node -e secret", "node"],
  ["node", "node"],
  ["sh TOKEN=secret", "sh"],
  ["${HOME_OF_TOOLS}", "server"],
])("the server %s is called %s", (line, name) => {
  const [command = "", ...args] = line.split(" ");
  expect(inPlaceName({ command, args })).toBe(name);
});
