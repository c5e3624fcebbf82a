import type { Store } from "../../store/store.ts";
import { sha256 } from "../../text/digest.ts";

/** Topics of the store whose changes are told for each tenant. */
export type WatchedTopic = "keys" | "sets" | "servers" | "definitions" | "apis";

/** A text that is another one when what a tenant has of a kind is different. */
export async function fingerprintOf(store: Store, topic: WatchedTopic, tenant: string): Promise<string> {
  return sha256(JSON.stringify(await contentOf(store, topic, tenant)));
}

async function contentOf(store: Store, topic: WatchedTopic, tenant: string): Promise<unknown> {
  switch (topic) {
    case "keys":
      // The last use is not a change.
      return (await store.keys.list(tenant)).map(({ usedAt: _usedAt, ...key }) => key);
    case "sets":
      return store.sets.list(tenant);
    case "servers":
      return store.servers(tenant).list();
    case "definitions":
      return (await store.definitions(tenant).pending()).map(({ id, hash }) => [id, hash]);
    case "apis":
      return publishedContent(store, tenant);
  }
}

async function publishedContent(store: Store, tenant: string): Promise<unknown> {
  const apis = store.apis(tenant);
  const versions = [];
  for (const api of await apis.apis()) versions.push(await apis.numbers(api), await apis.records(api));
  return [versions, await apis.instances()];
}
