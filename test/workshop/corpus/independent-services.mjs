// Counts what the operations of WSDL descriptions and GraphQL schemas take. It shares no code with src.
import { readFileSync } from "node:fs";
import { buildClientSchema, buildSchema } from "graphql";
import { SaxesParser } from "saxes";

const WSDL = "http://schemas.xmlsoap.org/wsdl/";
const XSD = "http://www.w3.org/2001/XMLSchema";
const SOAP = { "http://schemas.xmlsoap.org/wsdl/soap/": "1.1", "http://schemas.xmlsoap.org/wsdl/soap12/": "1.2" };

/** By `POST /service.svc#GetOrder`; the members of the body are paths such as `Body/GetOrder/number`. */
export function wsdlOperations(path) {
  const root = treeOf(readFileSync(path, "utf8").replace(/^\ufeff/, ""));
  const all = [...descendants(root)];
  const globals = (name) => all.filter((node) => node.name === name);
  const named = (kind, written) =>
    globals(kind).find((node) => node.attributes.name === local(written) && node.attributes.name !== undefined);
  const found = new Map();
  for (const port of globals("port")) {
    const binding = named("binding", port.attributes.binding);
    const version = binding && SOAP[child(binding, "binding")?.namespace];
    if (!version) continue;
    const portType = named("portType", binding.attributes.type);
    const address = child(port, "address")?.attributes.location ?? "";
    const style = child(binding, "binding").attributes.style ?? "document";
    for (const operation of children(portType, "operation")) {
      const key = `POST /${address.replace(/^\w+:\/\/[^/?#]*|#.*$/g, "").replace(/^[^?]*\//, "")}#${operation.attributes.name}`;
      if (found.has(key)) continue;
      const message = named("message", child(operation, "input")?.attributes.message);
      const members = children(message, "part").flatMap((part) => membersOf(part, { style, operation, all }));
      const parameters = version === "1.1" ? ["header soapaction"] : [];
      found.set(key, { parameters, bodies: new Map(members.length === 0 ? [] : [["xml", members]]) });
    }
  }
  return found;
}

function membersOf(part, { style, operation, all }) {
  if (style === "rpc") return [`Body/${operation.attributes.name}/${part.attributes.name}`];
  const name = local(part.attributes.element);
  const element = all.find(
    (node) => node.name === "element" && node.parent?.name === "schema" && node.attributes.name === name,
  );
  const type =
    child(element, "complexType") ??
    all.find((node) => node.name === "complexType" && node.attributes.name === local(element?.attributes.type));
  const inside = type ? [...descendants(type)].filter((node) => isOwn(node, type)) : [];
  return inside.map((node) => `Body/${name}/${node.attributes.name ?? local(node.attributes.ref)}`);
}

/** An element of the type itself, and not of an element in it. */
function isOwn(node, type) {
  if (node.name !== "element" || node.namespace !== XSD) return false;
  for (let at = node.parent; at !== type; at = at.parent) if (at.name === "element") return false;
  return true;
}

function treeOf(text) {
  const parser = new SaxesParser({ xmlns: true });
  const root = { name: "", children: [], attributes: {} };
  let open = root;
  parser.on("opentag", ({ local: name, uri, attributes }) => {
    const own = Object.values(attributes).filter((each) => each.uri === "" || each.uri === WSDL);
    const node = { name, namespace: uri, parent: open, children: [], attributes: {} };
    for (const each of own) node.attributes[each.local] = each.value;
    open.children.push(node);
    open = node;
  });
  parser.on("closetag", () => (open = open.parent));
  parser.write(text).close();
  return root;
}

function* descendants(node) {
  for (const each of node.children) {
    yield each;
    yield* descendants(each);
  }
}

function children(node, name) {
  return (node?.children ?? []).filter((each) => each.name === name);
}

function child(node, name) {
  return children(node, name)[0];
}

function local(name) {
  return name?.replace(/^.*:/, "");
}

/** By `query user`; the members of the body are `variables.id`. */
export function graphqlOperations(path) {
  const text = readFileSync(path, "utf8");
  const result = path.endsWith(".json") ? JSON.parse(text) : undefined;
  const schema = result ? buildClientSchema(result.data ?? result) : buildSchema(text, { assumeValidSDL: true });
  const roots = {
    query: schema.getQueryType(),
    mutation: schema.getMutationType(),
    subscription: schema.getSubscriptionType(),
  };
  const found = new Map();
  for (const [root, type] of Object.entries(roots)) {
    for (const { name, args } of Object.values(type?.getFields() ?? {})) {
      const members = args.map((argument) => `variables.${argument.name}`);
      found.set(`${root} ${name}`, { parameters: [], bodies: new Map([["json", members]]) });
    }
  }
  return found;
}
