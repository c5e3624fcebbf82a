// Tool files whose APIs exist only as fakes: each is loaded, its fake is started, and its tools are called through a
// client, as an agent would call them. Nothing has to be approved, because nothing leaves this program.
import assert from "node:assert/strict";
import { connect } from "nexus-mcp";
import { ApiRunner, apiServer, loadApi, startFake, transportTo } from "nexus-mcp/workshop";

/** Opens the tools of a file against its fake, has them used, and closes everything. */
async function withTools(name, use) {
  const { api, file, documents, problems } = await loadApi(`examples/workshop/${name}.nexus.yaml`);
  assert.deepEqual(
    problems.filter(({ severity }) => severity === "error"),
    [],
  );
  const fake = await startFake(file);
  const secrets = async (full) => fake.secrets[full.slice(file.api.length + 1)];
  const runner = new ApiRunner(api, { secrets, upstream: fake.url });
  const client = await connect(transportTo(apiServer(runner, { documents })));
  try {
    await use(client, fake);
  } finally {
    await client.close();
    await runner.close();
    await fake.close();
  }
}

await withTools("paging", async (client, fake) => {
  const { structuredContent } = await client.callTool("list_seeds", { kind: "herb" });
  assert.equal(structuredContent.count, 3);
  console.log(`paging: ${structuredContent.count} seeds from ${fake.requests.length} requests`);
});

await withTools("files", async (client) => {
  const { content } = await client.callTool("download_photo", { id: "p1" });
  const image = content.find(({ type }) => type === "image");
  assert.equal(image.mimeType, "image/png");
  console.log(`files: downloaded ${Buffer.from(image.data, "base64").length} bytes of ${image.mimeType}`);
});

await withTools("oauth", async (client, fake) => {
  const { structuredContent } = await client.callTool("find_parcel", { number: "AB123456" });
  assert.equal(structuredContent.state, "moving");
  console.log(`oauth: found a parcel with a token, ${fake.requests.length} requests`);
});

await withTools("steps", async (client, fake) => {
  const order = { email: "bob@example.com", lines: [{ sku: "RO101" }, { sku: "TU200" }] };
  const { structuredContent } = await client.callTool("create_order", order);
  assert.equal(structuredContent.isNewCustomer, true);
  console.log(`steps: order ${structuredContent.orderId} took ${fake.requests.length} requests`);
});
