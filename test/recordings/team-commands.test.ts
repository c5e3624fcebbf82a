import { afterAll, beforeAll, expect, test } from "vitest";
import { fileURLToPath } from "node:url";
import { join } from "node:path";
import { readFile } from "node:fs/promises";
import { NexusWorld } from "../fixtures/nexus.ts";
import { send } from "../fixtures/gateway/wire.ts";
import { NexusGateway } from "../security/nexus-gateway.ts";
import { Recorder } from "./recorder.ts";

const DEMO = fileURLToPath(new URL("../../dist/demo/main.js", import.meta.url));
const ORDERS = fileURLToPath(new URL("../fixtures/tool-files/orders.nexus.yaml", import.meta.url));

let nexus: NexusWorld;
let gateway: NexusGateway;
let admin: { id: string; key: string };
let reader: { id: string; key: string };
/** Commands on the database, and the same through the gateway. */
let here: Recorder;
let there: Recorder;

beforeAll(async () => {
  nexus = await NexusWorld.open();
  const orders = await readFile(ORDERS, "utf8");
  await nexus.write("home/work/project/orders.nexus.yaml", orders);
  await nexus.write("home/work/project/draft.nexus.yaml", orders.replace("api: orders", "api: draft"));
  await nexus.run(["api", "approve", "orders.nexus.yaml", "--by", "Ada", "--yes"]);
  await nexus.configure({ demo: { command: process.execPath, args: [DEMO] } });
  const newKey = async (line: string) => {
    const { stdout } = await nexus.run(["keys", "create", ...line.split(" "), "--json"]);
    return JSON.parse(stdout) as { id: string; key: string };
  };
  admin = await newKey("root --role admin --all-tenants --allow *");
  // Before the gateway starts: it knows these keys at once.
  reader = await newKey("reader --allow demo.* --allow demo/resources --deny demo.echo");
  gateway = await NexusGateway.start(nexus, ["--log", "json"]);
  here = new Recorder(nexus);
  there = new Recorder(nexus, { env: { NEXUS_KEY: admin.key }, always: ["--gateway", new URL(gateway.url).origin] });
  for (const each of [here, there]) each.name(admin.id, "<admin>");
});

afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await nexus[Symbol.asyncDispose]();
});

async function tenants(to: Recorder, tenant: string): Promise<void> {
  await to.run(`tenants create ${tenant} --rate 100/s`);
  await to.run(`tenants create ${tenant}`);
  await to.run("tenants create Bad_Name");
  await to.run(`tenants limit ${tenant} --per-day 1000 --concurrent 4`);
  await to.run(`tenants limit ${tenant} --rate none`);
  await to.run(`tenants limit ${tenant} --rate often`);
  await to.run("tenants limit none --rate 1/s");
  await to.run("tenants list");
  await to.run(`tenants show ${tenant}`);
  await to.run("tenants show none");
  await to.run(`tenants metrics ${tenant}`);
  await to.run("tenants metrics none");
  await to.run("tenants remove none --yes");
  await to.run(`tenants remove ${tenant}`);
}

async function keys(to: Recorder, tenant: string): Promise<void> {
  const { id } = await to.read(`keys create ci --tenant ${tenant} --allow demo --deny demo.echo --rate 10/s`);
  to.name(String(id), "<ci>");
  const other = await to.read(`keys create agent --tenant ${tenant} --allow set:* --allow demo/resources --read-only`);
  to.name(String(other["id"]), "<agent>");
  await to.run(`keys create none --tenant ${tenant}`);
  await to.run(`keys create bad --tenant ${tenant} --allow 'a b'`);
  await to.run(`keys create all --tenant ${tenant} --role admin --all-tenants --allow *`);
  await to.run(`keys create late --tenant ${tenant} --allow * --expires soon`);
  await to.run("keys create lost --tenant none --allow *");
  await to.run("keys whoami");
  await to.run(`keys list --tenant ${tenant}`);
  await to.run(`keys limit ${String(id)} --rate none --concurrent 4 --max-request 64kB`);
  await to.run(`keys limit ${String(id)}`);
  await to.run(`keys grant ${String(id)} --allow demo.add --read-only`);
  await to.run(`keys grant ${String(id)} --allow 'a b'`);
  await to.run("keys grant nobody --allow demo");
  await to.run(`keys show ${String(id)}`);
  await to.run("keys show nobody");
  await to.run(`keys rotate ${String(id)} --overlap 0s`);
  await to.run("keys rotate nobody");
  await to.run(`keys explain ${String(id)} demo.add --tenant ${tenant}`);
  await to.run(`keys explain ${String(id)} demo.echo --tenant ${tenant}`);
  await to.run(`keys explain ${String(id)} none.echo --tenant ${tenant}`);
  await to.run(`keys explain ${String(id)} set:desk --tenant ${tenant}`);
  await to.run(`keys revoke ${String(id)}`);
  await to.run("keys revoke nobody");
  await to.run(`keys list --tenant ${tenant}`);
}

async function sets(to: Recorder, tenant: string): Promise<void> {
  const items = "--rename demo.echo=say --describe demo.echo=Says --fix demo.add.a=2";
  await to.run(
    `sets create desk --tenant ${tenant} --allow demo.* --deny demo.secret --description 'For the desk' ${items}`,
  );
  await to.run(`sets create desk --tenant ${tenant} --allow demo`);
  await to.run(`sets create desk --tenant ${tenant} --allow demo.* --pin --read-only --replace`);
  await to.run(`sets create Bad_Name --tenant ${tenant} --allow demo`);
  await to.run(`sets create empty --tenant ${tenant}`);
  await to.run(`sets create bad --tenant ${tenant} --allow demo --rename demo.echo`);
  const whole = { allow: ["demo"], tools: { "demo.add": { name: "plus", arguments: { a: 1 } } }, prompts: {} };
  await to.run(`sets create whole --tenant ${tenant} --file -`, { stdin: JSON.stringify(whole) });
  const wrong = { allow: [1], tools: { demo: { nmae: "x" } }, pin: "yes", more: true };
  await to.run(`sets create wrong --tenant ${tenant} --file -`, { stdin: JSON.stringify(wrong) });
  await to.run(`sets list --tenant ${tenant}`);
  await to.run(`sets show desk --tenant ${tenant}`);
  await to.run(`sets edit desk --tenant ${tenant} --description 'Edited'`);
  await to.run(`sets edit none --tenant ${tenant} --description 'Edited'`);
  await to.run(`sets show none --tenant ${tenant}`);
  await to.run(`sets remove desk --tenant ${tenant}`);
  await to.run(`sets remove none --tenant ${tenant}`);
}

async function secrets(to: Recorder, tenant: string): Promise<void> {
  await to.run(`secrets set token --tenant ${tenant}`, { stdin: "a value of the test\n" });
  await to.run(`secrets set Bad-Name! --tenant ${tenant}`, { stdin: "x" });
  await to.run(`secrets set empty --tenant ${tenant}`, { stdin: "" });
  await to.run(`secrets list --tenant ${tenant}`);
  await to.run(`secrets remove token --tenant ${tenant}`);
  await to.run(`secrets remove token --tenant ${tenant}`);
}

async function servers(to: Recorder, tenant: string): Promise<void> {
  const of = `--tenant ${tenant}`;
  const header = "--header 'Authorization: Bearer ${secret:docs}'";
  // A server that is enabled is tried at once, so what is listed is disabled.
  await to.run(`mcp add docs --url https://mcp.invalid/mcp ${header} --disabled --no-check ${of}`);
  await to.run(`mcp add docs --url https://mcp.invalid/mcp --disabled --no-check ${of}`);
  await to.run(`mcp add docs --url https://mcp.invalid/v2/mcp --disabled --pin --force --no-check ${of}`);
  await to.run(`mcp add inside --url http://127.0.0.1:9/mcp --disabled --no-check ${of}`);
  await to.run(`mcp add bad --url nowhere --no-check ${of}`);
  await to.runUntil(`mcp servers ${of}`, /v2\/mcp(?!.*"closed")/);
  await to.run(`mcp servers docs ${of}`);
  await to.run(`mcp servers none ${of}`);
  await to.run(`mcp tools none ${of}`);
  await to.run(`mcp disable docs ${of}`);
  await to.run(`mcp disable none ${of}`);
  await to.run(`mcp enable none ${of}`);
  await to.run(`mcp logs docs ${of}`);
  await to.run(`mcp remove docs ${of}`);
  await to.runUntil(`mcp servers ${of}`, /"servers":\[(?!.*"docs")/);
  await to.run(`mcp remove docs ${of}`);
}

async function apis(to: Recorder, tenant: string): Promise<void> {
  await to.run(`api publish orders.nexus.yaml --as 1.0.0 --tenant ${tenant}`);
  await to.run(`api publish orders.nexus.yaml --tenant ${tenant}`);
  await to.run(`api publish draft.nexus.yaml --tenant ${tenant}`);
  await to.run(`api files --tenant ${tenant}`);
  await to.run(`api files orders --tenant ${tenant}`);
  await to.run(`api versions --tenant ${tenant}`);
  await to.run(`api versions orders --tenant ${tenant}`);
  await to.run(`api instances orders --tenant ${tenant}`);
  await to.run(`api instances orders add test --upstream fake --call-timeout 5s --tenant ${tenant}`);
  await to.run(`api instances orders set test --per-minute 60 --tenant ${tenant}`);
  await to.run(`api instances orders remove test --tenant ${tenant}`);
  await to.run(`api instances orders remove test --tenant ${tenant}`);
  await to.run(`api rollback orders --tenant ${tenant}`);
  await to.run(`api versions orders --retire 1.0.0 --tenant ${tenant}`);
  await to.run(`api versions none --tenant ${tenant}`);
}

const SUBJECTS = { tenants, keys, sets, secrets, servers, apis };

test("nexus audit … --json is as recorded, on a database and through a gateway, and so are the names of metrics", async () => {
  const { id, key } = reader;
  for (const each of [here, there]) each.name(id, "<reader>");
  await gateway.post(key, "tools/call", { name: "demo__add", arguments: { a: 2, b: 3 } });
  await gateway.post(key, "tools/call", { name: "demo__add", arguments: {} });
  await gateway.post(key, "tools/call", { name: "demo__echo", arguments: { text: "x" } });
  await gateway.post(key, "prompts/get", { name: "demo__postcard", arguments: { place: "Vienna" } });
  await gateway.post(key, "resources/read", { uri: "demo+demo://welcome" });
  await gateway.post(key, "resources/list", {}, "/servers/demo/mcp");
  await gateway.post(key, "tools/call", { name: "add", arguments: { a: 1, b: 1 } }, "/servers/none/mcp");
  const recorded = async () => {
    const { stdout } = await nexus.run(["audit", "list", "--key", id, "--json"]);
    return (JSON.parse(stdout) as { items: { seq: number }[] }).items.map(({ seq }) => seq);
  };
  await expect.poll(recorded).toHaveLength(7);
  const [newest] = await recorded();
  for (const each of [here, there]) each.name(`audit show ${newest}\n`, "audit show <newest>\n");
  const of = `--key ${id}`;
  for (const [to, name] of [[here, "here"] as const, [there, "gateway"] as const]) {
    await to.run(`audit list ${of} --limit 2 --outcome refused`);
    await to.run(`audit list ${of} --tool demo.add --outcome ok --since 1h`);
    await to.run(`audit list ${of} --server demo --until 1d`);
    await to.run("audit list --key nobody");
    await to.run("audit list --outcome often");
    await to.run(`audit show ${newest}`);
    await to.run("audit show 999999");
    await to.run("audit verify");
    await to.run("audit verify --tenant none");
    await to.run("audit usage --tenant none");
    await to.run(`audit export ${of} --tool demo.add`);
    await to.run("audit prune --before 1d");
    await to.run("audit prune --before 2999-01-01");
    await to.run("audit prune");
    // Other records of the tenant come and go.
    const text = to.take().replaceAll(/("(?:seq|first|records)": )\d+/g, "$1<n>");
    await expect(text).toMatchFileSnapshot(`../golden/commands/audit-${name}.txt`);
  }

  const { text } = await send(gateway.at("/metrics"), {
    method: "GET",
    headers: { authorization: `Bearer ${admin.key}` },
  });
  const described = text.split("\n").filter((line) => /^# (HELP|TYPE) /.test(line));
  const labels = text.match(/^\w+\{[^}]*\}/gm) ?? [];
  const named = labels.map((series) => series.replaceAll(/="[^"]*"/g, ""));
  const lines = [...described, "", ...[...new Set(named)].toSorted()];
  await expect(`${lines.join("\n")}\n`).toMatchFileSnapshot("../golden/names/metrics.txt");
});

test("nexus keys explain and mcp retry … --json are as recorded, on a database and through a gateway", async () => {
  const { id } = await here.read("keys create judged --allow demo.* --allow set:desk --read-only");
  here.take();
  const definition = { allow: ["demo.a*"] };
  await nexus.run(["sets", "create", "desk", "--file", "-"], { stdin: JSON.stringify(definition) });
  for (const [to, name] of [[here, "here"] as const, [there, "gateway"] as const]) {
    to.name(String(id), "<judged>");
    for (const what of ["demo.add", "demo.roll", "demo.none", "other.add", "set:desk", "set:none", "demo"]) {
      await to.run(`keys explain ${String(id)} ${what}`);
    }
    await to.run(`keys explain ${String(id)} demo.add --set desk`);
    await to.run(`keys explain ${String(id)} demo.roll --set desk`);
    await to.run("mcp retry demo");
    await to.run("mcp retry none");
    await expect(to.take()).toMatchFileSnapshot(`../golden/commands/explain-${name}.txt`);
  }
});

test("nexus store … --json is as recorded", async () => {
  await here.run("store check");
  await here.run(`store backup ${join(nexus.root, "nexus.backup")}`);
  await here.run(`store restore ${join(nexus.root, "nexus.backup")}`);
  await here.run(`store restore ${join(nexus.root, "none.backup")}`);
  const other = `file:${join(nexus.root, "other.db")}`;
  await here.run(`store check --database ${other}`);
  await here.run(`store migrate --database ${other}`);
  await here.run(`store restore ${join(nexus.root, "nexus.backup")} --database ${other}`);
  await here.run(`store check --database ${other}`);
  await here.run("store check --database nowhere");
  const text = here.take().replaceAll(/("(?:rows|audit)": )\d+/g, "$1<n>");
  await expect(text).toMatchFileSnapshot("../golden/commands/store.txt");
});

test.each(Object.entries(SUBJECTS))(
  "nexus … --json of %s is as recorded, on a database and through a gateway",
  async (name, run) => {
    await run(here, "shop");
    await expect(here.take()).toMatchFileSnapshot(`../golden/commands/${name}-here.txt`);
    await run(there, "desk");
    await expect(there.take()).toMatchFileSnapshot(`../golden/commands/${name}-gateway.txt`);
  },
);
