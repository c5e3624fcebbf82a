import { readFileSync } from "node:fs";
import { beforeEach, expect, test } from "vitest";
import { onBothEngines } from "../../../test/fixtures/store-world.ts";
import type { Store } from "../../store/store.ts";
import { compileApi } from "../../workshop/compile/compile.ts";
import { readToolFile } from "../../workshop/file/read-tool-file.ts";
import { ApiOperations, type PublishRequest } from "./api-operations.ts";

const TEXT = readFileSync(new URL("../../../test/fixtures/tool-files/orders.nexus.yaml", import.meta.url), "utf8");
const FIRST = "optional: true, wire: remark.text";
const WORDED = TEXT.replace("Shown to the packer.", "The packer reads it.");
const WIDENED = TEXT.replace("maxItems: 3", "maxItems: 4");
const BREAKING = TEXT.replace(FIRST, "wire: remark.text");

/** A file and the approval of what it compiles to. */
function approved(text: string): PublishRequest {
  const { file } = readToolFile(text, "orders");
  if (!file) throw new Error("not a tool file");
  const { hash } = compileApi(file, {}).api;
  const approval = { hash, by: "Ada", at: "2026-11-02T09:00:00.000Z", version: file.version };
  return { text, documents: {}, approval };
}

onBothEngines("publishing", (world) => {
  let store: Store;
  let apis: ApiOperations;
  beforeEach(async () => {
    store = await world().openStore();
    apis = operations();
  });

  const operations = (origin: "local" | "network" = "local") =>
    new ApiOperations(store.apis("default"), { by: "Grace", origin, now: () => Date.parse("2026-11-02T10:00:00Z") });

  test("the first version gets the number of its file and becomes the instance live", async () => {
    const published = await apis.publish(approved(TEXT));
    expect(published).toMatchObject({
      isNew: true,
      version: {
        version: "1.0.0",
        approval: { by: "Ada", at: "2026-11-02T09:00:00.000Z" },
        publishedBy: "Grace",
        publishedAt: "2026-11-02T10:00:00.000Z",
        state: "published",
        change: null,
        instances: ["live"],
      },
      instance: { name: "live", server: "orders", version: "1.0.0", former: [] },
    });
    expect(await apis.list()).toMatchObject([{ api: "orders", newest: "1.0.0", versions: 1 }]);
  });

  test("the kind of the change decides about the next number, and a breaking change needs a new major one", async () => {
    await apis.publish(approved(TEXT));
    expect((await apis.publish(approved(WORDED))).version).toMatchObject({
      version: "1.0.1",
      change: { since: "1.0.0", kind: "wording" },
    });
    expect((await apis.publish(approved(WIDENED))).version).toMatchObject({ version: "1.1.0" });
    await expect(apis.publish(approved(BREAKING))).rejects.toMatchObject({
      code: "ARGUMENTS_INVALID",
      message: expect.stringContaining("types.Place.fields.note.optional: true → false"),
      details: { hint: expect.stringContaining("--as 2.0.0") },
    });
    await expect(apis.publish({ ...approved(BREAKING), as: "1.2.0" })).rejects.toThrow("breaks calls");
    const second = await apis.publish({ ...approved(BREAKING), as: "2.0.0" });
    expect(second.version).toMatchObject({ version: "2.0.0", change: { since: "1.1.0", kind: "breaking" } });
    expect(second.changes[0]).toMatchObject({ means: "breaking" });
    expect(second.instance).toMatchObject({ version: "2.0.0", former: ["1.0.0", "1.0.1", "1.1.0"] });
  });

  test("a number that is too low, taken, or not a number is refused with one that can be used", async () => {
    await apis.publish(approved(TEXT));
    const as = (text: string, version: string) => apis.publish({ ...approved(text), as: version });
    await expect(as(WIDENED, "1.0.1")).rejects.toMatchObject({ details: { hint: expect.stringContaining("1.1.0") } });
    await expect(as(WIDENED, "1.0.0")).rejects.toThrow("is published with other content");
    await expect(as(WIDENED, "1.1")).rejects.toThrow('"1.1" is not a version number');
    await expect(as(TEXT, "1.0.1")).rejects.toThrow("already published as version 1.0.0");
    await as(WIDENED, "1.4.0");
    await expect(as(WORDED, "1.2.0")).rejects.toThrow('"orders" has version 1.4.0, which is higher than 1.2.0');
  });

  test("a version in the file that is higher than all others is taken, also a new major one", async () => {
    await apis.publish(approved(TEXT));
    const text = BREAKING.replace("version: 1.0.0", "version: 3.0.0");
    expect((await apis.publish(approved(text))).version).toMatchObject({ version: "3.0.0" });
  });

  test("a fix for an older major number does not replace the newer version", async () => {
    await apis.publish(approved(TEXT));
    await apis.publish({ ...approved(BREAKING), as: "2.0.0" });
    const fix = await apis.publish({ ...approved(WIDENED), as: "1.1.0" });
    expect(fix.version).toMatchObject({ version: "1.1.0", change: { since: "1.0.0", kind: "widened" }, instances: [] });
    expect(fix.instance).toMatchObject({ version: "2.0.0" });
  });

  test("publishing the same content again changes nothing, or serves it again", async () => {
    await apis.publish(approved(TEXT));
    expect(await apis.publish(approved(TEXT))).toMatchObject({ isNew: false, instance: { former: [] } });
    await apis.publish(approved(WIDENED));
    expect(await apis.publish(approved(TEXT))).toMatchObject({
      isNew: false,
      instance: { version: "1.0.0", former: ["1.0.0", "1.1.0"] },
    });
  });

  test("a rollback goes back step by step, or to the version that is named", async () => {
    await apis.publish(approved(TEXT));
    await apis.publish(approved(WORDED));
    await apis.publish(approved(WIDENED));
    expect(await apis.rollback("orders", {})).toMatchObject({ version: "1.0.1", former: ["1.0.0"] });
    expect(await apis.rollback("orders", {})).toMatchObject({ version: "1.0.0", former: [] });
    await expect(apis.rollback("orders", {})).rejects.toMatchObject({
      message: 'The instance "live" of "orders" served nothing before 1.0.0',
      details: { hint: "Choose one with {rollBackApi.to}: 1.0.1, 1.1.0." },
    });
    expect(await apis.rollback("orders", { to: "1.1.0" })).toMatchObject({ version: "1.1.0", former: ["1.0.0"] });
    await expect(apis.rollback("orders", { to: "4.0.0" })).rejects.toMatchObject({ code: "NAME_UNKNOWN" });
    await expect(apis.rollback("order", {})).rejects.toMatchObject({
      code: "NAME_UNKNOWN",
      details: { hint: expect.stringContaining('Did you mean "orders"?') },
    });
    await expect(apis.rollback("orders", { instance: "lvie" })).rejects.toThrow('"orders" has no instance "lvie"');
  });

  test("a version that is served cannot be retired; a retired one is not served until it is taken back", async () => {
    await apis.publish(approved(TEXT));
    await expect(apis.setState("orders", "1.0.0", "retired")).rejects.toThrow('is served by "live"');
    await apis.publish(approved(WIDENED));
    expect(await apis.setState("orders", "1.0.0", "retired")).toMatchObject({ state: "retired" });
    await expect(apis.rollback("orders", {})).rejects.toMatchObject({
      message: 'The instance "live" of "orders" served 1.0.0 before 1.1.0, and 1.0.0 is retired',
      details: { hint: "Take it back first: {changeApiVersion id=orders version=1.0.0}" },
    });
    await expect(apis.rollback("orders", { to: "1.0.0" })).rejects.toThrow("is retired");
    await apis.setState("orders", "1.0.0", "published");
    expect(await apis.rollback("orders", {})).toMatchObject({ version: "1.0.0" });
  });

  test("instances have their own server, address, settings and limits", async () => {
    await apis.publish(approved(TEXT));
    await apis.publish({ ...approved(WIDENED), instance: "test", upstream: "fake", settings: { region: "south" } });
    expect(await apis.instances("orders")).toMatchObject([
      { name: "live", server: "orders", version: "1.0.0", upstream: null },
      { name: "test", server: "orders-test", version: "1.1.0", upstream: "fake", settings: { region: "south" } },
    ]);
    const limits = { timeoutMs: 5_000, perMinute: 60 };
    expect(await apis.putInstance("orders", "test", { limits, upstream: "https://test.example/v1/" })).toMatchObject({
      limits,
      upstream: "https://test.example/v1/",
      settings: { region: "south" },
    });
    const less = await apis.putInstance("orders", "test", {
      limits: { perMinute: null },
      settings: { region: null },
      upstream: null,
      version: "1.0.0",
    });
    expect(less).toMatchObject({ version: "1.0.0", limits: { timeoutMs: 5_000 }, settings: {}, upstream: null });
    await expect(apis.putInstance("orders", "test", { settings: { regoin: "x" } })).rejects.toThrow("regoin");
    await expect(apis.putInstance("orders", "test", { server: "other" })).rejects.toThrow(
      'is the server "orders-test"',
    );
    await expect(apis.putInstance("orders", "b", { server: "orders" })).rejects.toThrow("belongs to");
    await expect(apis.putInstance("orders", "B", {})).rejects.toThrow("is not a valid name");
    for (const upstream of ["ftp://x/", "https://x/?", "https://x/#"]) {
      await expect(apis.putInstance("orders", "c", { upstream })).rejects.toThrow("is not an http or https");
    }
    await apis.removeInstance("orders", "test");
    expect(await apis.instances("orders")).toHaveLength(1);
  });

  test("an instance elsewhere says where every address of the file is reached, or is refused", async () => {
    const twoHosts = TEXT.replace(
      "https://orders.example/v1/",
      'https://orders.example/v1/, allow: ["https://orders.example/", "https://files.example/"]',
    ).replace("method: GET,", "method: GET, base: https://files.example/,");
    await apis.publish(approved(twoHosts));
    const upstream = "https://test.example/v1/";
    const put = (change: object) => apis.putInstance("orders", "test", change);
    await expect(put({ upstream })).rejects.toMatchObject({
      code: "ARGUMENTS_INVALID",
      message: expect.stringContaining("does not replace https://files.example/"),
      details: { hint: expect.stringContaining("in its addresses: https://files.example/=URL") },
    });
    await expect(put({ upstream: "fake", addresses: { "https://files.example/": "https://f.test/" } })).rejects.toThrow(
      "Only an upstream address elsewhere",
    );
    await expect(put({ upstream, addresses: { "https:/": "https://f.test/" } })).rejects.toThrow("does not use");
    await expect(put({ upstream, addresses: { "https://fils.example/": "https://f.test/" } })).rejects.toThrow(
      "does not use the address https://fils.example/",
    );
    await expect(put({ upstream, addresses: { "https://files.example/": "file:///x" } })).rejects.toThrow(
      "not an http",
    );
    const addresses = { "https://files.example/": "https://f.test/" };
    expect(await put({ upstream, addresses })).toMatchObject({ upstream, addresses, origin: "local" });
    const network = operations("network");
    await expect(
      network.putInstance("orders", "test", { addresses: { "https://files.example/": "http://10.0.0.1/" } }),
    ).rejects.toMatchObject({ code: "ADDRESS_REFUSED" });
    await network.putInstance("orders", "test", { addresses: { "https://files.example/": "https://g.test/" } });
    // One of its addresses came over the network.
    expect(await put({ upstream: "https://other.example/v1/" })).toMatchObject({ origin: "network" });
    await expect(put({ addresses: { "https://files.example/": null } })).rejects.toThrow("does not replace");
    expect(await put({ upstream: "fake" })).toMatchObject({ upstream: "fake", addresses: {}, origin: "local" });
  });

  test("what comes over the network reaches public addresses only, and is approved as a whole", async () => {
    const network = operations("network");
    const inside = TEXT.replace("https://orders.example/v1/", "http://127.0.0.1:9/");
    await expect(network.publish(approved(inside))).rejects.toMatchObject({ code: "ADDRESS_REFUSED" });
    await expect(network.publish({ ...approved(TEXT), upstream: "http://10.0.0.1/" })).rejects.toMatchObject({
      code: "ADDRESS_REFUSED",
    });
    await expect(network.publish({ ...approved(TEXT), text: WIDENED })).rejects.toThrow(
      "The approval is about sha256:",
    );
    await expect(network.publish({ ...approved(TEXT), text: "nexus: 1" })).rejects.toThrow("has mistakes");
    expect(await network.publish(approved(TEXT))).toMatchObject({ version: { origin: "network" } });
  });

  test("two that publish at the same time do not get the same number", async () => {
    await apis.publish(approved(TEXT));
    const settled = await Promise.allSettled([apis.publish(approved(WIDENED)), apis.publish(approved(WORDED))]);
    const numbers = (await apis.versions("orders")).map(({ version }) => version);
    expect(new Set(numbers).size).toBe(numbers.length);
    for (const each of settled) if (each.status === "rejected") expect(each.reason).toMatchObject({ code: "BUSY" });
  });
});
