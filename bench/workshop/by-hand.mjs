// What a person writes for one call of each example: the same request with its credentials, the same
// value from the response, a result with both forms of it. Arguments are checked as the vendor asks.
import { SaxesParser } from "saxes";
import { Pool } from "undici";

const NAMESPACE = "http://capcorn.at/";
const LANGUAGES = { german: 0, english: 1 };
const BOARDS = { 1: "breakfast", 2: "half_board", 3: "full_board", 4: "no_meals", 5: "all_inclusive" };
const ROOM_TYPES = { 1: "hotel_room", 2: "apartment" };
const ESCAPED = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIMEOUT_MS = 30_000;
const MAX_BYTES = 16 * 1024 * 1024;

/** Each makes its call once. `secret` looks one up by its full name. */
export const BY_HAND = { xml: searchRooms, json: findExhibitions, imported: listItems };

async function searchRooms({ pool, secret }, args) {
  checkSearch(args);
  const [user, password, system] = await Promise.all(
    ["user", "password", "system"].map((name) => secret(`capcorn.${name}`)),
  );
  const path = `/RoomAvailability?${new URLSearchParams({ user, password, system })}`;
  const headers = {
    accept: "application/xml, text/xml;q=0.9, */*;q=0.1",
    "content-type": "application/xml; charset=utf-8",
  };
  const text = await send(pool, { path, method: "POST", headers, body: writeSearch(args) });
  const value = readOffers(readTree(text), args);
  return resultOf(`Found ${value.count} options from ${args.arrival} to ${args.departure}.`, value);
}

async function findExhibitions({ pool }, { on, tags }) {
  const path = `/exhibitions?${new URLSearchParams([["on", on], ...tags.map((tag) => ["tag", tag])])}`;
  const headers = { accept: "application/json", "x-visitor-language": "en" };
  const { exhibitions, page } = JSON.parse(await send(pool, { path, method: "GET", headers }));
  const value = { exhibitions: exhibitions.map(readExhibition), nextPage: page.next };
  return resultOf(`Found ${value.exhibitions.length} exhibitions.`, value);
}

async function listItems({ pool, secret }, { warehouse, tags = [], limit = 20 }) {
  if (typeof warehouse !== "string" || warehouse.length > 12)
    throw new Error("warehouse must have at most 12 characters");
  if (!isList(tags, 0, Infinity, (tag) => typeof tag === "string")) throw new Error("tags must be a list of texts");
  if (!isIn(limit, 1, 100)) throw new Error("limit must be 1 to 100");
  const query = new URLSearchParams([["warehouse", warehouse], ...tags.map((tag) => ["tags", tag]), ["limit", limit]]);
  const headers = { accept: "application/json", "x-api-key": await secret("imported.key") };
  const value = JSON.parse(await send(pool, { path: `/items?${query}`, method: "GET", headers }));
  return resultOf(`Found ${value.items.length} items.`, value);
}

async function send(pool, request) {
  const { statusCode, body } = await pool.request(request);
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`status ${statusCode}`);
  return text;
}

function resultOf(line, value) {
  const content = [line, JSON.stringify(value)].map((text) => ({ type: "text", text }));
  return { content, structuredContent: value };
}

function readExhibition({ id, title, museum, dates, tags, price }) {
  const { adult: adultPrice, reduced: reducedPrice } = price;
  return { id, title, museumId: museum, from: dates.from, until: dates.until, tags, adultPrice, reducedPrice };
}

/** With limits like the tool's. A deadline for the whole call (AbortSignal.timeout) would cost as much as the request. */
export function openPool(url) {
  const timeouts = { headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS };
  return new Pool(new URL(url).origin, { ...timeouts, maxResponseSize: MAX_BYTES });
}

function checkSearch({ language, hotelIds, arrival, departure, rooms }) {
  const problems = [];
  if (!Object.hasOwn(LANGUAGES, language)) problems.push("language must be german or english");
  if (!isList(hotelIds, 1, Infinity, (id) => isIn(id, 1, Infinity))) problems.push("hotelIds must be a list of ids");
  if (!DATE.test(arrival)) problems.push("arrival must be a date");
  if (!DATE.test(departure)) problems.push("departure must be a date");
  if (departure <= arrival) problems.push("departure must be after arrival");
  if (!isList(rooms, 1, 10, isRoom)) problems.push("rooms must be a list of 1 to 10 rooms, for at most 15 people each");
  if (problems.length > 0) throw new Error(problems.join("; "));
}

function isRoom({ adults, childAges = [] }) {
  return isIn(adults, 1, 15) && isList(childAges, 0, 8, (age) => isIn(age, 1, 17)) && adults + childAges.length <= 15;
}

function isList(value, least, most, isRight) {
  return Array.isArray(value) && value.length >= least && value.length <= most && value.every(isRight);
}

function isIn(value, least, most) {
  return Number.isSafeInteger(value) && value >= least && value <= most;
}

function writeSearch({ language, hotelIds, arrival, departure, rooms }) {
  const members = hotelIds.map((id) => `<member hotel_id="${escaped(id)}"/>`).join("");
  return `<?xml version="1.0" encoding="utf-8"?>
<room_availability><language>${LANGUAGES[language]}</language><members>${members}</members><arrival>${escaped(arrival)}</arrival><departure>${escaped(departure)}</departure><rooms>${rooms.map(writeRoom).join("")}</rooms></room_availability>`;
}

function writeRoom({ adults, childAges = [] }) {
  const children = childAges.map((age) => `<child age="${escaped(age)}"/>`).join("");
  return children === ""
    ? `<room adults="${escaped(adults)}"/>`
    : `<room adults="${escaped(adults)}">${children}</room>`;
}

function escaped(value) {
  return String(value).replace(/[&<>"]/g, (sign) => ESCAPED[sign]);
}

/** saxes tells of tags and texts; this puts them together. */
function readTree(text) {
  const parser = new SaxesParser({ xmlns: true, position: false });
  const root = { children: [] };
  const open = [root];
  parser.on("doctype", () => {
    throw new Error("a document type");
  });
  parser.on("opentag", ({ local, uri, attributes }) => {
    const element = { name: local, uri, attributes: {}, children: [], text: "" };
    for (const { local: name, value } of Object.values(attributes)) element.attributes[name] = value;
    open.at(-1).children.push(element);
    open.push(element);
  });
  parser.on("text", (piece) => (open.at(-1).text += piece));
  parser.on("cdata", (piece) => (open.at(-1).text += piece));
  parser.on("closetag", () => open.pop());
  parser.write(text).close();
  return root.children[0];
}

function readOffers(root, { arrival, departure }) {
  if (root.name !== "room_availability_result") throw new Error(`unexpected <${root.name}>`);
  const hotels = all(child(root, "members"), "member").map((member) => ({
    hotelId: integer(member.attributes.hotel_id),
    rooms: all(child(member, "rooms"), "room").map(readRoom),
  }));
  const count = hotels.flatMap(({ rooms }) => rooms.flatMap(({ options }) => options)).length;
  const nights = Math.round((Date.parse(departure) - Date.parse(arrival)) / 86_400_000);
  return { count, nights, currency: "EUR", hotels };
}

function readRoom(room) {
  return {
    arrival: date(room, "arrival"),
    departure: date(room, "departure"),
    adults: integer(textOf(room, "adults")),
    childAges: all(child(room, "children"), "child").map(({ attributes }) => integer(attributes.age)),
    options: all(child(room, "options"), "option").map(readOption),
  };
}

function readOption(option) {
  return {
    categoryCode: textOf(option, "catc"),
    name: collapsed(textOf(option, "type")),
    description: collapsed(textOf(option, "description")),
    sizeSqm: integer(textOf(option, "size")),
    totalPrice: number(textOf(option, "price")),
    pricePerPerson: number(textOf(option, "price_per_person")),
    pricePerAdult: number(textOf(option, "price_per_adult")),
    pricePerNight: number(textOf(option, "price_per_night")),
    board: code(BOARDS, textOf(option, "board")),
    roomType: code(ROOM_TYPES, textOf(option, "room_type")),
  };
}

function all(element, name) {
  return element?.children.filter((each) => each.name === name && each.uri === NAMESPACE) ?? [];
}

function child(element, name) {
  return element.children.find((each) => each.name === name && each.uri === NAMESPACE);
}

function textOf(element, name) {
  const found = child(element, name);
  if (!found) throw new Error(`<${name}> is missing`);
  return found.text.trim();
}

function collapsed(text) {
  return text.replaceAll(/\s+/g, " ");
}

function integer(text) {
  if (!/^-?\d+$/.test(text)) throw new Error(`"${text}" is not a whole number`);
  return Number(text);
}

function number(text) {
  if (!/^-?\d+(?:\.\d+)?$/.test(text)) throw new Error(`"${text}" is not a number`);
  return Number(text);
}

function date(element, name) {
  const text = textOf(element, name);
  if (!DATE.test(text)) throw new Error(`"${text}" is not a date`);
  return text;
}

function code(codes, text) {
  const meaning = codes[text];
  if (meaning === undefined) throw new Error(`unknown code "${text}"`);
  return meaning;
}
