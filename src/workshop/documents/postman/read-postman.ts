import { REQUEST_METHODS } from "../../file/model/tool-file.ts";
import type { ApiFacts, OmittedOperation, OperationFacts, Remark, ServerFacts } from "../api-facts.ts";
import type { LoadedDocument } from "../parse-document.ts";
import { PostmanAuth } from "./postman-auth.ts";
import { PostmanPart } from "./postman-part.ts";
import { readRequest } from "./postman-request.ts";
import { PostmanVariables } from "./postman-variables.ts";

/** What surrounds a request: the folders, and what they give it. */
interface Surroundings {
  folder: string | undefined;
  auth: PostmanPart;
  variables: PostmanVariables;
}

const METHODS: ReadonlySet<string> = new Set(REQUEST_METHODS);

/** Reads a Postman collection (2.0 or 2.1). Types are inferred from its examples; values of credentials are not read. */
export function readPostman(document: LoadedDocument): ApiFacts {
  return new Reader(document).read();
}

class Reader {
  readonly #root: PostmanPart;
  readonly #remarks: Remark[];
  readonly #auth: PostmanAuth;
  readonly #tags = new Map<string, string | undefined>();
  readonly #operations: { facts: OperationFacts; server: ServerFacts | undefined }[] = [];
  readonly #omitted: OmittedOperation[] = [];
  readonly #keys = new Map<string, number>();
  /** In a collection that marks what is required, everything else is optional. */
  readonly #marksRequired: boolean;
  #hasScripts = false;

  constructor({ name, value, text, remarks }: LoadedDocument) {
    this.#root = new PostmanPart(value, `${name}#`);
    this.#remarks = remarks.map((remark) => ({ text: remark, evidence: `${name}#` }));
    this.#auth = new PostmanAuth();
    this.#marksRequired = /"\s*\(Required\)/i.test(text);
  }

  read(): ApiFacts {
    const info = this.#root.part("info");
    // Early exports of 2.0 have `variables`.
    const variables = new PostmanVariables().with(this.#root.part("variables")).with(this.#root.part("variable"));
    this.#items(this.#root.part("item"), { folder: undefined, auth: this.#root.part("auth"), variables });
    if (this.#hasScripts) {
      this.#remarks.push({
        text: "Its scripts are not read: what they compute has to be written by hand.",
        evidence: this.#root.evidence,
      });
    }
    const main = this.#mainServer();
    const description = info.description();
    const version = info.part("version").text();
    return {
      format: "postman-2",
      title: info.part("name").text()?.trim() || "API",
      version: version === undefined || version === "" ? "1.0.0" : version,
      ...(description !== undefined && { description }),
      servers: main ? [main] : [],
      security: this.#auth.schemes,
      tags: [...this.#tags].map(([name, about]) => ({ name, ...(about !== undefined && { description: about }) })),
      operations: this.#operations.map(({ facts, server }) =>
        server && server.url !== main?.url ? { ...facts, servers: [server] } : facts,
      ),
      omitted: this.#omitted,
      remarks: this.#remarks,
    };
  }

  #items(list: PostmanPart, around: Surroundings): void {
    for (const item of list.items()) {
      if (item.part("event").items().some(hasScript)) this.#hasScripts = true;
      const name = item.part("name").text()?.trim() ?? "";
      const variables = around.variables.with(item.part("variable"));
      if (Array.isArray(item.part("item").value)) {
        const folder = name === "" ? around.folder : name;
        if (folder !== undefined && !this.#tags.has(folder)) this.#tags.set(folder, item.description());
        this.#items(item.part("item"), { folder, auth: nearest(item.part("auth"), around.auth), variables });
      } else this.#request(item, name, { ...around, variables });
    }
  }

  #request(item: PostmanPart, name: string, around: Surroundings): void {
    const { folder, auth, variables } = around;
    const request = item.part("request");
    if (!request.isThere) {
      const detail = "the item has no request";
      const key = this.#uniqueKey(name === "" ? "item" : name);
      this.#omitted.push({ key, reason: "unreadable-operation", detail, evidence: item.evidence });
      return;
    }
    // An address alone is a GET request, as the format says; a request without a method is not complete.
    const written = request.text() === undefined ? request.part("method").text() : "GET";
    const method = around.variables
      .resolve(written ?? "")
      .trim()
      .toUpperCase();
    if (method === "") {
      const key = this.#uniqueKey(name === "" ? "item" : name);
      this.#omitted.push({ key, reason: "unknown-method", evidence: request.evidence });
      return;
    }
    if (isTooLarge(request)) {
      const detail = `more than ${MOST_ENTRIES} entries in a list`;
      this.#omitted.push({
        key: this.#uniqueKey(`${method} ${name}`),
        reason: "too-large",
        detail,
        evidence: item.evidence,
      });
      return;
    }
    const { facts, server, unsent } = readRequest(item, {
      method,
      variables,
      auth: nearest(request.part("auth"), nearest(item.part("auth"), auth)),
      known: this.#auth,
      marksRequired: this.#marksRequired,
    });
    const key = this.#uniqueKey(unsent ? `${method} ${name}` : `${method} ${facts.path}`);
    if (!METHODS.has(method)) {
      this.#omitted.push({ key, reason: "unsupported-method", detail: method, evidence: item.evidence });
      return;
    }
    if (unsent) {
      this.#omitted.push({ key, ...unsent, evidence: item.evidence });
      return;
    }
    const tags = folder === undefined ? [] : [folder];
    this.#operations.push({ facts: { ...facts, key, tags, ...(name !== "" && { id: name }) }, server });
  }

  #uniqueKey(key: string): string {
    const count = (this.#keys.get(key) ?? 0) + 1;
    this.#keys.set(key, count);
    return count === 1 ? key : `${key} (${count})`;
  }

  /** The one that most requests use; the first of them. */
  #mainServer(): ServerFacts | undefined {
    const counts = new Map<string, { server: ServerFacts; count: number }>();
    for (const { server } of this.#operations) {
      if (!server) continue;
      const known = counts.get(server.url) ?? { server, count: 0 };
      counts.set(server.url, { ...known, count: known.count + 1 });
    }
    return [...counts.values()].sort((a, b) => b.count - a.count)[0]?.server;
  }
}

/** `auth: null` and no `auth` both mean: that of the parent. */
function nearest(own: PostmanPart, outer: PostmanPart): PostmanPart {
  return own.isThere ? own : outer;
}

/** Of a list of parameters, headers, members of a form or steps of an address. */
const MOST_ENTRIES = 2_000;

/** Lists are read into many objects for each entry, so they are counted before. */
function isTooLarge(request: PostmanPart): boolean {
  const [url, body] = [request.part("url"), request.part("body")];
  const lists = [
    request.part("header"),
    ...["query", "path", "variable"].map((name) => url.part(name)),
    ...["urlencoded", "formdata"].map((name) => body.part(name)),
  ].map(({ value }) => (Array.isArray(value) ? value.length : 0));
  const address = request.text() ?? url.text() ?? url.part("raw").text() ?? "";
  return Math.max(...lists, address.split(/[/&]/, MOST_ENTRIES + 1).length) > MOST_ENTRIES;
}

function hasScript(event: PostmanPart): boolean {
  const exec = event.part("script").part("exec");
  return [exec, ...exec.items()].some((line) => (line.text() ?? "").trim() !== "");
}
