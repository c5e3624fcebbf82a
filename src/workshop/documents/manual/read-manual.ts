import { visible } from "../../../text/visible.ts";
import {
  type ApiFacts,
  type ErrorFacts,
  type Evidence,
  type ManualFormat,
  type OperationFacts,
  type Remark,
  type SecuritySchemeFacts,
  type ServerFacts,
} from "../api-facts.ts";
import { readApart, type ManualText } from "../apart/read-apart.ts";
import { received, sendable } from "../apart/sendable.ts";
import { unreadable, type LoadedDocument } from "../parse-document.ts";
import { descriptionsIn } from "./blocks/linked-descriptions.ts";
import { evidenceIn, readBlocks, refusingTooLarge, type ManualBlocks } from "./blocks/read-blocks.ts";
import { markBodyCredentials } from "./describe/body-credentials.ts";
import { parameterCredentials, statedCredentials } from "./describe/credentials.ts";
import { effectOf, effectsIn } from "./describe/effects.ts";
import { statusItem, statusRows, statusSentences, timeoutIn } from "./describe/failures.ts";
import { alternatives, schemeName } from "./describe/needed-schemes.ts";
import { OperationDescription } from "./describe/operation.ts";
import { sayWords } from "./describe/said-words.ts";
import { originIn } from "./endpoints/address-parts.ts";
import { actionMentions } from "./endpoints/actions.ts";
import { likelyServer, sharedServer, statedServers } from "./endpoints/base.ts";
import { endpointsOf, type Endpoint } from "./endpoints/endpoints.ts";
import { mentionsIn, usualMethodIn, type Mention } from "./endpoints/mentions.ts";
import { Scopes } from "./endpoints/scopes.ts";
import { fieldTables, type FieldTable } from "./field-tables.ts";
import { applyOrder, applySentences } from "./fields/sentences.ts";
import { limitsIn } from "./fields/said-limits.ts";
import { outlineOf, plainText, type Outline } from "./outline.ts";
import { roleOf } from "./roles.ts";
import { samplesIn, type MessageSample } from "./samples/find-samples.ts";
import { attachCodes, codeTables } from "./tables/code-tables.ts";
import { applyLimitRow, limitRows } from "./tables/limit-tables.ts";
import { groupedBy } from "../../../text/grouped-by.ts";
import { looseName, markIn } from "./words.ts";

const MOST_ENDPOINTS = 2_000;
const MOST_DOUBTS = 40;
const MOST_LIMITS = 500;
const MOST_NOTED = 5_000;

/** What a manual for people says about an API, found by general rules: no model is asked. */
export async function readManual({ name, text, format, source, remarks }: LoadedDocument): Promise<ApiFacts> {
  const own = source === undefined ? {} : { source };
  const document: ManualText = { name, text, format: isManual(format) ? format : "text", remarks, ...own };
  const blocks = await readBlocks(document);
  const here = async () => sendable(factsOfManual(document, blocks));
  const facts = readApart({ kind: "manual", document, blocks }, here);
  // What is received is what was sent.
  return received(await refusingTooLarge(name, facts)) as ApiFacts;
}

/** The same of blocks that were read, in this thread. */
export function factsOfManual(document: ManualText, blocks: ManualBlocks): ApiFacts {
  const manual = { ...blocks, evidence: evidenceIn(document) };
  return new ManualReader(outlineOf(manual), document).facts();
}

function isManual(format: LoadedDocument["format"]): format is ManualFormat {
  return ["markdown", "html", "text", "pdf"].includes(format);
}

class ManualReader {
  readonly #outline: Outline;
  readonly #document: ManualText;
  readonly #evidence: (line: number) => Evidence;

  constructor(outline: Outline, document: ManualText) {
    this.#outline = outline;
    this.#document = document;
    this.#evidence = (line) => outline.manual.evidence({ from: line, to: line });
  }

  facts(): ApiFacts {
    const outline = this.#outline;
    const usualMethod = usualMethodIn(outline);
    const { mentions, stated } = this.#requests(usualMethod);
    const found = endpointsOf(mentions, stated[0]?.url, usualMethod).slice(0, MOST_ENDPOINTS);
    if (found.length === 0) throw noEndpoint(this.#document);
    const likely = stated.length === 0 && found.every(({ origin }) => origin === undefined) && likelyServer(outline);
    const shared = likely || (stated.length === 0 ? sharedServer(found, outline) : undefined);
    const servers = shared ? [shared] : stated;
    const all = shared ? endpointsOf(mentions, shared.url, usualMethod).slice(0, MOST_ENDPOINTS) : found;
    const endpoints = all.filter(({ isOpen }) => !isOpen);
    const open = all.filter(({ isOpen }) => isOpen);
    const scopes = new Scopes(outline, endpoints);
    const doubts: Remark[] = [];
    const taken = new Set(mentions.filter(({ kind }) => kind === "table").map(({ index }) => index));
    const codes = codeTables(outline).filter(({ index }) => !taken.has(index));
    for (const { index, codes: listed } of codes) {
      const isList = outline.blocks[index]?.block.kind === "item";
      for (let at = index; at < index + (isList ? listed.length : 1); at++) taken.add(at);
    }
    const limits = outline.blocks.flatMap(({ block, index }) =>
      block.kind === "table" && !taken.has(index) ? limitRows(block, outline).map((row) => ({ row, index })) : [],
    );
    for (const { index } of limits) taken.add(index);
    const failures = this.#failures(taken);
    for (const { index, isSentence } of failures) if (!isSentence) taken.add(index);
    const tables = fieldTables(outline, scopes, taken);
    const descriptions = this.#describe(endpoints, scopes, tables);
    const byEndpoint = new Map(descriptions.map((each) => [each.endpoint, each]));
    const inputs = descriptions.flatMap((each) => each.inputNodes());
    for (const { row, index } of limits.slice(0, MOST_LIMITS)) {
      const owner = scopes.ownerOf(index);
      const nodes = owner ? (byEndpoint.get(owner)?.inputNodes() ?? []) : inputs;
      const doubt = applyLimitRow(row, nodes);
      if (doubt) doubts.push(doubt);
    }
    const nodes = descriptions.flatMap((each) => each.nodes());
    const owners = new Map(descriptions.flatMap((each) => each.nodes().map((node) => [node, each.endpoint] as const)));
    attachCodes(nodes, codes, (node, table) => owners.get(node) === scopes.ownerOf(table.index));
    const byName = groupedBy(inputs, ({ name }) => name);
    const used = applySentences(outline, {
      named: (index, name) => {
        const owner = scopes.ownerOf(index);
        return (byName.get(name) ?? []).filter((node) => owner === undefined || owners.get(node) === owner);
      },
      around: (index) => {
        const owner = scopes.ownerOf(index);
        if (owner) return byEndpoint.get(owner)?.inputNodes() ?? [];
        return isNote(outline.blocks[index]?.section.title) ? inputs.slice(0, MOST_NOTED) : [];
      },
    });
    for (const description of descriptions) applyOrder(description);
    markBodyCredentials(descriptions, outline);
    doubts.push(...this.#repeated(scopes, used), ...this.#marked());
    return this.#assemble({ descriptions, servers, scopes, failures, doubts, open });
  }

  /** Where one address has several actions, each is a request. */
  #requests(usualMethod: string | undefined): { mentions: Mention[]; stated: ServerFacts[] } {
    const outline = this.#outline;
    const mentions = mentionsIn(outline);
    const stated = statedServers(outline);
    const [base = mentions.length === 0 ? likelyServer(outline) : undefined] = stated;
    const found = actionMentions(outline, mentions, { servers: base ? [base, ...stated.slice(1)] : [], usualMethod });
    return { mentions: found?.mentions ?? mentions, stated: found?.servers ?? stated };
  }

  /** One description for each endpoint, from its own samples and tables, and from those for all. */
  #describe(endpoints: readonly Endpoint[], scopes: Scopes, tables: readonly FieldTable[]): OperationDescription[] {
    const outline = this.#outline;
    const byEndpoint = new Map(
      endpoints.map((endpoint) => [endpoint, new OperationDescription(endpoint, this.#evidence)]),
    );
    const errors: MessageSample[] = [];
    for (const placed of outline.blocks) {
      if (placed.block.kind !== "code") continue;
      const endpoint = scopes.ownerOf(placed.index);
      const side = this.#followsRequest(placed.index) ? "response" : roleOf(outline, placed, endpoint).side;
      const description = endpoint && byEndpoint.get(endpoint);
      for (const sample of this.#samples(placed.index)) {
        if (side === "error" || !description) errors.push(sample);
        if (description) description.addSample(sample, side);
      }
    }
    const byRoot = groupedBy([...byEndpoint.values()], ({ response }) => response.rootName);
    for (const { body } of errors) {
      if (body?.kind === "xml")
        for (const description of byRoot.get(body.node?.name ?? "") ?? []) description.addError(body);
    }
    const objects = new Map<string, FieldTable>();
    for (const table of tables) {
      for (const subject of table.subjects)
        if (!objects.has(subject) && (table.endpoint === undefined || table.role.side === undefined))
          objects.set(subject, table);
    }
    const used = new Set<FieldTable>();
    const referred = referredTables(tables);
    for (const [number, table] of referred) objects.set(`#${number}`, table);
    for (const table of tables) {
      const description = table.endpoint && byEndpoint.get(table.endpoint);
      if (description && referred.get(table.number ?? "") !== table) description.addTable(table);
    }
    const own = new Map<Endpoint, string[]>();
    for (const { text, index } of this.#prose()) {
      const owner = scopes.ownerOf(index);
      if (owner) own.set(owner, own.get(owner) ?? []);
      if (owner) own.get(owner)?.push(text);
    }
    for (const description of byEndpoint.values()) {
      description.settle();
      this.#answerOf(description, own.get(description.endpoint) ?? [], objects);
      description.request.nest(objects, used);
      description.response.nest(objects, used);
    }
    for (const table of tables)
      if (table.endpoint === undefined && !used.has(table)) this.#addCommon(table, [...byEndpoint.values()]);
    return [...byEndpoint.values()];
  }

  /** A sample beside a command, without a text between them, is what the command gives. */
  #followsRequest(index: number): boolean {
    for (let at = index - 1; at >= Math.max(0, index - 12); at--) {
      if (this.#outline.blocks[at]?.block.kind !== "code") return false;
      if (this.#samples(at).some(({ side, target }) => side === "request" && target !== undefined)) return true;
    }
    return false;
  }

  readonly #found = new Map<number, MessageSample[]>();

  #samples(index: number): MessageSample[] {
    const known = this.#found.get(index);
    if (known) return known;
    const block = this.#outline.blocks[index]?.block;
    const samples = block?.kind === "code" ? samplesIn(block) : [];
    this.#found.set(index, samples);
    return samples;
  }

  /** `Returns an Order`, `Returns a list of orders`: the answer is described elsewhere. */
  #answerOf(
    { response }: OperationDescription,
    texts: readonly string[],
    objects: ReadonlyMap<string, FieldTable>,
  ): void {
    if (!response.isEmpty) return;
    for (const text of texts) {
      const found =
        /\b(?:returns?|response(?: is| contains)?|answers? (?:with|is)|antwort ist|responds with|result(?: is)?)\b:?\s+(?:(?:is|with|contains)\s+)?(?:the |an? )?((?:(?:list|array|collection|page) of )?)(?:(?:all|matching|created|updated|new|single|the|full|complete)\s+)*`?([A-Za-z][\w-]*(?: [A-Z][\w-]*)?)`?/i.exec(
          plainText(text),
        );
      const [, many = "", name = ""] = found ?? [];
      const table = objects.get(looseName(name)) ?? objects.get(looseName(name.split(" ")[0] ?? ""));
      if (!table || !found) continue;
      if (many !== "") response.tree.root.list = true;
      response.place(table.rows);
      return;
    }
  }

  /** Parameters for several calls: those of a column with the call, and those of headers and queries for all. */
  #addCommon(table: FieldTable, all: readonly OperationDescription[]): void {
    for (const row of table.rows) {
      const place = row.place ?? table.role.place;
      const called = row.call === undefined || row.call === "" ? undefined : looseName(row.call);
      const isForAll = called === undefined || /^(?:all|both|every|any|alle)/.test(called);
      if (place === undefined || place === "body" || place === "path" || (isForAll && table.role.side === "response"))
        continue;
      for (const description of all) {
        const isMeant = isForAll || description.endpoint.names.some((name) => called?.includes(looseName(name)));
        if (isMeant) description.addParameter(place, row);
      }
    }
  }

  /** `isSentence`: its block may say something else as well. */
  #failures(taken: ReadonlySet<number>): { facts: ErrorFacts; index: number; isSentence?: boolean }[] {
    return this.#outline.blocks.flatMap(({ block, index }) => {
      if (taken.has(index)) return [];
      if (block.kind === "table") return statusRows(block, this.#outline).map((facts) => ({ facts, index }));
      if (block.kind !== "item" && block.kind !== "paragraph") return [];
      const item = block.kind === "item" ? statusItem(block.text) : undefined;
      const evidence = this.#outline.manual.evidence(block.place);
      return (item ? [item] : statusSentences(block.text)).map((said) => ({
        facts: { ...said, evidence },
        index,
        isSentence: item === undefined,
      }));
    });
  }

  /** Limits in notes that belong to no request: a person has to know which fields they are about. */
  #repeated(scopes: Scopes, used: ReadonlySet<number>): Remark[] {
    return this.#outline.blocks.flatMap(({ block, index, section }) => {
      if (
        block.kind !== "item" ||
        used.has(index) ||
        !isNote(section.title) ||
        scopes.ownerOf(index) ||
        limitsIn(block.text).length === 0
      )
        return [];
      return [
        {
          text: `The manual also says: "${plainText(block.text).slice(0, 240)}" Do the fields have this limit?`,
          evidence: this.#outline.manual.evidence(block.place),
        },
      ];
    });
  }

  /** Sentences that the manual itself marks as uncertain. */
  #marked(): Remark[] {
    return this.#outline.blocks.flatMap(({ block }) => {
      if (block.kind !== "paragraph" && block.kind !== "item") return [];
      const sentence = plainText(block.text)
        .split(/(?<=[.!?])\s+/)
        .find((each) => markIn(each) !== undefined);
      return sentence === undefined
        ? []
        : [
            {
              text: `The manual is not certain: "${sentence.slice(0, 240)}"`,
              evidence: this.#outline.manual.evidence(block.place),
            },
          ];
    });
  }

  #assemble(parts: {
    descriptions: OperationDescription[];
    servers: ApiFacts["servers"];
    scopes: Scopes;
    failures: { facts: ErrorFacts; index: number }[];
    doubts: Remark[];
    open: readonly Endpoint[];
  }): ApiFacts {
    const { descriptions, servers, scopes, failures, doubts, open } = parts;
    const outline = this.#outline;
    const security: Record<string, SecuritySchemeFacts> = {};
    const samples = outline.blocks.flatMap(({ index }) => this.#samples(index));
    const stated = statedCredentials(outline, samples, this.#evidence);
    const words = sayWords(
      outline,
      scopes,
      descriptions.map(({ endpoint }) => endpoint),
    );
    const timeoutMs = this.#prose()
      .map(({ text }) => timeoutIn(text))
      .find((each) => each !== undefined);
    const effects = effectsIn(this.#prose(), scopes);
    const operations = descriptions.map((description): OperationFacts => {
      const { endpoint } = description;
      const own = parameterCredentials(description);
      const schemes =
        own.schemes.length > 0 ? [...own.schemes, ...stated.filter(({ facts }) => facts.kind !== "apiKey")] : stated;
      const needed = schemes.map(({ name, facts }) => ({ scheme: schemeName(security, name, facts), scopes: [] }));
      const said = words.get(endpoint);
      const facts = description.facts({
        security: alternatives(needed, security),
        skip: new Set([
          ...own.skip,
          ...stated.flatMap(({ facts: each }) => (each.kind === "apiKey" ? [`${each.in} ${each.name}`] : [])),
        ]),
        summary: said?.summary,
        description: said?.description,
        mediaType: said?.mediaType,
      });
      const errors = failures
        .filter(({ index }) => (scopes.ownerOf(index) ?? endpoint) === endpoint)
        .map((each) => each.facts);
      const effect = effectOf(endpoint, effects);
      const server =
        endpoint.origin !== undefined && endpoint.origin.toLowerCase() !== originIn(servers[0]?.url ?? "")
          ? [{ url: endpoint.origin, variables: [], evidence: facts.evidence }]
          : undefined;
      return {
        ...facts,
        ...(said?.id === undefined ? {} : { id: said.id }),
        ...(endpoint.isAssumed ? { methodAssumed: true as const } : {}),
        ...(errors.length === 0 ? {} : { errors }),
        ...(effect === undefined ? {} : { effect }),
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
        ...(server ? { servers: server } : {}),
      };
    });
    const paragraphs = outline.blocks.flatMap(({ block }) =>
      block.kind === "paragraph" && block.text.length > 20 ? [block] : [],
    );
    const intro = paragraphs.slice(0, 5).find(({ text }) => /[.!]\s*$/.test(text)) ?? paragraphs[0];
    return {
      format: this.#document.format,
      title: plainText(outline.manual.title ?? "") || this.#document.name,
      version: "1.0.0",
      ...(intro ? { description: plainText(intro.text).slice(0, 400) } : {}),
      servers,
      security,
      tags: [],
      operations,
      omitted: open.map((endpoint) => ({
        key: `ANY ${endpoint.path}`,
        reason: "unknown-method",
        evidence: this.#evidence(endpoint.mentions[0]?.place.from ?? 1),
      })),
      remarks: this.#document.remarks.map((text) => ({ text, evidence: `${this.#document.name}#L1` })),
      doubts: doubts.slice(0, MOST_DOUBTS),
    };
  }

  #prose(): { text: string; index: number }[] {
    return this.#outline.blocks.flatMap(({ block, index }) =>
      block.kind === "paragraph" || block.kind === "item" ? [{ text: block.text, index }] : [],
    );
  }
}

/** Tables of objects that fields of other tables refer to by the number of a section: `object | see 2.1.1`. */
function referredTables(tables: readonly FieldTable[]): Map<string, FieldTable> {
  const byNumber = new Map<string, FieldTable>();
  for (const table of tables)
    if (table.number !== undefined && !byNumber.has(table.number)) byNumber.set(table.number, table);
  const found = new Map<string, FieldTable>();
  for (const { rows, number: own } of tables) {
    for (const { said, values } of rows) {
      if (said.type !== "object" && said.reference === undefined && !said.list) continue;
      for (const number of values.references ?? []) {
        const table = number === own ? undefined : byNumber.get(number);
        if (table) found.set(number, table);
      }
    }
  }
  return found;
}

function isNote(title = ""): boolean {
  return /\bnotes?\b|pitfall|limit|restriction|constraint|hinweis|einschr[äa]nkung/i.test(title);
}

function noEndpoint({ source, name, format, text }: ManualText): Error {
  const isPage = format === "html";
  const shown = visible(source ?? name);
  return unreadable(
    `${shown} ${isPage ? "is an HTML page that names" : "names"} no request. Looked for: a method with an address (POST https://host/path, GET /orders/{id}) in headings, text, tables and code; curl commands; HTTP samples; addresses with parameters`,
    isPage
      ? pageAdvice(descriptionsIn(text, source))
      : "Import the page that describes the requests, or add a line such as GET https://api.example/orders above each description.",
  );
}

function pageAdvice([found, ...others]: readonly string[]): string {
  const page = "Or import the page that describes the requests.";
  if (found === undefined) {
    return `Import the JSON or YAML of the API: pages often load it from an address that ends with openapi.json, openapi.yaml or swagger.json. ${page}`;
  }
  const more = others.length === 0 ? "" : ` (also ${visible(others.join(", "))})`;
  return `The page refers to ${visible(found)}${more}: import that. ${page}`;
}
