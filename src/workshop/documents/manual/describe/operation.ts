import type { BodyFacts, Evidence, OperationFacts, ParameterFacts, ResponseFacts } from "../../api-facts.ts";
import { addDoubt, applyRow } from "../fields/apply-row.ts";
import { FieldTree, type FieldNode } from "../fields/field-node.ts";
import { isRequired, nodeSchema } from "../fields/node-schema.ts";
import type { FieldTable } from "../field-tables.ts";
import { endpointKey, type Endpoint } from "../endpoints/endpoints.ts";
import { decoded, type BodySample, type MessageSample } from "../samples/find-samples.ts";
import type { FieldRow, ParameterPlace } from "../tables/field-rows.ts";
import { isDeprecated, looseName } from "../words.ts";
import { MessageBody } from "./message.ts";

const READING = new Set(["GET", "DELETE", "HEAD"]);
const ENVELOPE = /^(?:params?|parameters|arguments|args|data|payload|input|body|content)$/i;
const PLACES = ["path", "query", "header", "cookie"] as const;
/** Headers that every request has, or that are set by the program itself. */
const USUAL_HEADERS =
  /^(?:host|content-length|content-type|accept|accept-encoding|connection|user-agent|cache-control|date|transfer-encoding|content-encoding)$/i;

/** Everything that the manual says about one endpoint, collected in trees of fields. */
export class OperationDescription {
  readonly endpoint: Endpoint;
  readonly request: MessageBody;
  readonly response: MessageBody;
  readonly parameters: Readonly<Record<(typeof PLACES)[number], FieldTree>> = {
    path: new FieldTree(),
    query: new FieldTree(),
    header: new FieldTree(),
    cookie: new FieldTree(),
  };
  readonly #evidence: (line: number) => Evidence;
  readonly #rows = new Map<string, FieldRow>();
  readonly #open: BodySample[] = [];

  constructor(endpoint: Endpoint, evidence: (line: number) => Evidence) {
    this.endpoint = endpoint;
    this.#evidence = evidence;
    this.request = new MessageBody(evidence);
    this.response = new MessageBody(evidence);
    for (const [, name = ""] of endpoint.path.matchAll(/\{([^{}]*)\}/g)) this.#parameter("path", name);
    for (const mention of endpoint.mentions) {
      for (const { name, value } of mention.query) this.#show("query", name, value, mention.place.from);
    }
    this.#chooseAction();
  }

  /** The parameter that chooses what the request does is the same in each of its requests. */
  #chooseAction(): void {
    const { action, mentions } = this.endpoint;
    if (!action) return;
    const tree = action.sentIn === "query" ? this.parameters.query : this.request.tree;
    const node = tree.child(tree.root, { name: action.name, attribute: false });
    if (!node) return;
    node.constant = action.value;
    node.required = true;
    node.said.type = "string";
    for (const { place } of mentions.slice(0, 3)) node.evidence.push(this.#evidence(place.from));
  }

  /** Rows by place and name, for credentials. */
  get rows(): ReadonlyMap<string, FieldRow> {
    return this.#rows;
  }

  nodes(): FieldNode[] {
    return [
      ...PLACES.flatMap((place) => this.parameters[place].nodes()),
      ...this.request.tree.nodes(),
      ...this.response.tree.nodes(),
    ];
  }

  inputNodes(): FieldNode[] {
    return [...PLACES.flatMap((place) => this.parameters[place].nodes()), ...this.request.tree.nodes()];
  }

  /** A sample of a message. `side` is where the manual has it, if it says so. */
  addSample(sample: MessageSample, side: "request" | "response" | "error" | undefined): void {
    if (sample.side === "request") {
      for (const { name, value, line } of sample.headers)
        if (!USUAL_HEADERS.test(name)) this.#show("header", name, value, line);
    }
    const { body } = sample;
    if (!body) return;
    const isOpen = sample.side === undefined && side === undefined && this.#ofAction(body) === undefined;
    if (isOpen && body.kind === "json" && this.#usualSide() === "request") {
      this.#open.push(body);
      return;
    }
    const known =
      sample.side ??
      this.#ofAction(body) ??
      (side === "error" ? "error" : (this.#byRoot(body) ?? side ?? this.#usualSide()));
    if (known === "request") this.request.add(body);
    else if (known === "response" && sample.status === undefined && isOnlyError(body)) return;
    else if (known === "response" && (sample.status === undefined || sample.status < 300)) this.response.add(body);
    // An error in the document of the answer is one more form of it.
    else if (body.kind === "xml" && body.node?.name === this.response.rootName) this.response.add(body);
  }

  /** Samples of an unknown side: what has no field of the request is the answer. */
  settle(): void {
    this.#fixEnvelope();
    for (const body of this.#open) {
      const known = this.request.tree.root.children;
      const isRequest = known.size === 0 || body.node?.children.some(({ name }) => known.has(name)) === true;
      if (isRequest && this.request.kind === undefined) this.request.add(body);
      else this.response.add(body);
    }
  }

  /** A body with the action in it is that of a request. */
  #ofAction({ node }: BodySample): "request" | undefined {
    const { action } = this.endpoint;
    if (action?.sentIn !== "body") return undefined;
    const isIts = node?.children.some(({ name, value }) => name === action.name && value === action.value);
    return isIts ? "request" : undefined;
  }

  /** JSON-RPC: its version and the id of a call that is made alone are always the same. */
  #fixEnvelope(): void {
    const { children } = this.request.tree.root;
    const version = children.get("jsonrpc");
    if (!version) return;
    for (const node of [version, children.get("id")]) {
      const [sample] = node?.samples ?? [];
      if (node && sample !== undefined && sample !== null) node.constant ??= String(sample);
    }
  }

  /** `params`, if the parameters of an action are in there. */
  #envelope(): FieldNode | undefined {
    if (this.endpoint.action?.sentIn !== "body") return undefined;
    const all = [...this.request.tree.root.children.values()];
    return all.find(({ name, children }) => children.size > 0 && ENVELOPE.test(name));
  }

  /** An error sample that is not in the description of one endpoint. */
  addError(body: BodySample): void {
    if (body.kind === "xml" && body.node && body.node.name === this.response.rootName) this.response.add(body);
  }

  #byRoot(body: BodySample): "request" | "response" | undefined {
    if (body.kind !== "xml" || !body.node) return undefined;
    if (body.node.name === this.request.rootName) return "request";
    return body.node.name === this.response.rootName ? "response" : undefined;
  }

  #usualSide(): "request" | "response" {
    return READING.has(this.endpoint.method) || this.request.kind !== undefined ? "response" : "request";
  }

  /** The side of a table that the manual does not name: where its fields are in samples. */
  sideOf({ role, rows }: FieldTable): "request" | "response" | "error" {
    if (role.side !== undefined) return role.side;
    if (role.place !== undefined) return "request";
    const inRequest = rows.filter((row) => this.request.has(row) || this.#isParameter(row)).length;
    const inResponse = rows.filter((row) => this.response.has(row)).length;
    if (inRequest !== inResponse) return inRequest > inResponse ? "request" : "response";
    return rows.some((row) => row.occurs.required !== undefined || row.place !== undefined) ||
      !READING.has(this.endpoint.method)
      ? "request"
      : "response";
  }

  #isParameter(row: FieldRow): boolean {
    return row.raw.some((name) => PLACES.some((place) => this.parameters[place].root.children.has(name)));
  }

  addTable(table: FieldTable): void {
    const side = this.sideOf(table);
    if (side === "error") return;
    if (side === "response") {
      this.response.place(table.rows, this.#subject(this.response, table));
      return;
    }
    const body: FieldRow[] = [];
    for (const row of table.rows) {
      const place = row.place ?? this.#placeOf(row, table);
      if (place === "body") body.push(row);
      else this.addParameter(place, row);
    }
    if (body.length === 0) return;
    const subject = this.#subject(this.request, table);
    const { root } = this.request.tree;
    const envelope = subject === root ? this.#envelope() : undefined;
    const inside = (row: FieldRow) => !row.raw.some((name) => root.children.has(name));
    this.request.place(envelope ? body.filter((row) => !inside(row)) : body, subject);
    if (envelope) this.request.place(body.filter(inside), envelope);
  }

  /** The field whose members a table describes, by its title. */
  #subject(message: MessageBody, { subjects }: FieldTable): FieldNode {
    const { root } = message.tree;
    const found = message.tree
      .nodes()
      .find(
        (node) =>
          node !== root &&
          !node.attribute &&
          (node.children.size > 0 || node.list || node.said.type === "object" || node.said.reference !== undefined) &&
          subjects.includes(looseName(node.name)),
      );
    return found ?? root;
  }

  #placeOf(row: FieldRow, { role }: FieldTable): ParameterPlace {
    const [name = ""] = row.raw;
    if (role.place !== undefined && role.place !== "path") return role.place;
    if (this.parameters.path.root.children.has(name)) return "path";
    if (this.parameters.query.root.children.has(name)) return "query";
    if (
      this.parameters.header.root.children.has(name) ||
      (/^(?:X-|Authorization$|Content-|Accept|If-|Idempotency-)/i.test(name) && name.includes("-")) ||
      /^Authorization$/i.test(name)
    )
      return "header";
    if (role.place === "path") return READING.has(this.endpoint.method) ? "query" : "body";
    return READING.has(this.endpoint.method) && this.request.isEmpty ? "query" : "body";
  }

  addParameter(place: Exclude<ParameterPlace, "body">, row: FieldRow): void {
    for (const name of row.raw) {
      const node = this.#parameter(place, name);
      if (!node) continue;
      applyRow(node, row);
      this.#rows.set(`${place} ${name}`, row);
    }
  }

  #parameter(place: Exclude<ParameterPlace, "body">, name: string): FieldNode | undefined {
    const tree = this.parameters[place];
    const known =
      place === "header"
        ? [...tree.root.children.values()].find((node) => node.name.toLowerCase() === name.toLowerCase())
        : undefined;
    return known ?? tree.child(tree.root, { name, attribute: false });
  }

  #show(place: "query" | "header", name: string, value: string, line: number): void {
    const node = this.#parameter(place, name);
    if (!node) return;
    if (node.shown.length < 20) node.shown.push(this.#evidence(line));
    const text = decoded(value);
    if (text !== "" && node.samples.length < 20) node.samples.push(text);
    node.contents++;
  }

  /** The operation as a fact. `skip`: parameters that carry credentials. */
  facts(given: {
    security: OperationFacts["security"];
    skip: ReadonlySet<string>;
    summary: string | undefined;
    description: string | undefined;
    mediaType: "json" | "xml" | "form" | undefined;
  }): OperationFacts {
    const { endpoint } = this;
    const key = endpointKey(endpoint);
    const place = endpoint.mentions.find(({ kind }) => kind === "heading") ?? endpoint.mentions[0];
    const evidence = this.#evidence(place?.place.from ?? 1);
    if (given.mediaType !== undefined) this.request.assume(given.mediaType);
    const content =
      READING.has(endpoint.method) && this.request.isEmpty
        ? undefined
        : this.request.content("input", `${key} request`, evidence);
    const body: BodyFacts | undefined = content && { required: true, contents: [content], evidence: content.evidence };
    const answer = this.response.content("output", `${key} response`, evidence);
    const response: ResponseFacts[] = answer
      ? [{ status: "200", contents: [answer], headers: [], evidence: answer.evidence }]
      : [];
    const title = [given.summary, given.description].join(" ");
    return {
      key,
      method: endpoint.method,
      path: endpoint.path,
      ...(given.summary === undefined ? {} : { summary: given.summary }),
      ...(given.description === undefined ? {} : { description: given.description }),
      tags: [],
      deprecated: isDeprecated(title.slice(0, 200)),
      parameters: PLACES.flatMap((where) => this.#parameterFacts(where, given.skip, evidence)),
      ...(body ? { body } : {}),
      responses: response,
      security: given.security,
      evidence,
    };
  }

  #parameterFacts(where: (typeof PLACES)[number], skip: ReadonlySet<string>, fallback: Evidence): ParameterFacts[] {
    return [...this.parameters[where].root.children.values()].flatMap((node): ParameterFacts[] => {
      if (skip.has(`${where} ${node.name}`) || (where === "header" && USUAL_HEADERS.test(node.name))) return [];
      const isSample = node.evidence.length === 0;
      if (where === "query" && isSample && node.required === undefined)
        addDoubt(node, "Only a sample shows this parameter; the manual does not describe it.");
      const { shown } = this.endpoint;
      if (where === "path" && isSample && shown !== undefined)
        addDoubt(
          node,
          `The manual only shows ${shown}: what looks like an id in it is a parameter here. Is that right?`,
        );
      const fixed =
        node.constant ?? (where === "header" && isSample && isFixedHeader(node) ? String(node.samples[0]) : undefined);
      const schema = nodeSchema(node, {
        form: "flat",
        side: "input",
        owner: `${endpointKey(this.endpoint)} ${where}`,
      });
      const { const: _const, fixed: _fixed, ...free } = schema;
      const evidence = schema.evidence === "" ? fallback : schema.evidence;
      return [
        {
          name: node.name,
          in: where,
          required: where === "path" || isRequired(node, "input"),
          ...(node.description === undefined ? {} : { description: node.description }),
          deprecated: node.deprecated,
          schema: { ...free, evidence },
          style: where === "path" || where === "header" ? "simple" : "form",
          explode: where !== "header" && where !== "path",
          ...(fixed === undefined || where === "path" ? {} : { constant: fixed }),
          examples: schema.examples,
          evidence,
        },
      ];
    });
  }
}

/** `{ "error": … }` alone is never the answer to a call that went well. */
function isOnlyError({ kind, node }: BodySample): boolean {
  const names = node?.children.map(({ name }) => name) ?? [];
  return kind === "json" && names.length > 0 && names.every((name) => /^(?:errors?|fault|error_\w+)$/i.test(name));
}

/** A header that only samples show, always with the same value that is not a placeholder, such as a version. */
function isFixedHeader({ samples, name }: FieldNode): boolean {
  const values = new Set(samples);
  const [only] = values;
  return (
    values.size === 1 &&
    typeof only === "string" &&
    /version|api-|format|profile/i.test(name) &&
    /^[\w./;=+-]{1,60}$/.test(only)
  );
}
