/**
 * What a server offers, in a few lines.
 * @param {Pick<import("nexus-mcp").Client, "serverInfo" | "protocolVersion" | "listTools">} client
 */
export async function summary(client) {
  const tools = await client.listTools();
  const lines = tools.map(({ name, description = "" }) => `  ${name}: ${description}`);
  return [`${client.serverInfo?.name} speaks ${client.protocolVersion} and offers:`, ...lines].join("\n");
}
