// The least an MCP server over stdio can do, in both eras: what is measured is the client.
import { answer } from "./echo.mjs";

let rest = "";
process.stdin.setEncoding("utf8");
process.stdin.on("data", (chunk) => {
  const lines = (rest + chunk).split("\n");
  rest = lines.pop();
  let out = "";
  for (const line of lines) {
    const response = answer(JSON.parse(line));
    if (response) out += `${JSON.stringify(response)}\n`;
  }
  if (out) process.stdout.write(out);
});
