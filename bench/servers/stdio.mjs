/** The least an MCP server over stdio can do: `respond` gives the text of an answer, none for a notification. */
export function serveStdio(respond) {
  let rest = "";
  process.stdin.setEncoding("utf8");
  process.stdin.on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    let out = "";
    for (const line of lines) {
      const text = respond(JSON.parse(line));
      if (text !== undefined) out += `${text}\n`;
    }
    if (out) process.stdout.write(out);
  });
}
