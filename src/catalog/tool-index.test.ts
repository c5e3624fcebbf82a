import { expect, test } from "vitest";
import { ToolIndex, type IndexedTool } from "./tool-index.ts";

function tool(name: string, description: string, category?: string): IndexedTool {
  return { name, title: name.replaceAll("_", " "), description, category };
}

/** The names of what is found. */
function search(index: ToolIndex, query: string): string[] {
  return index.search(query).map(({ key }) => key);
}

const INDEX = new ToolIndex([
  tool("list_pets", "Lists all animals of the shop.", "animals"),
  tool("create_pet", "Adds an animal. Use list_pets to see all.", "animals"),
  tool("create_invoice", "Writes an invoice for an order.", "billing"),
  tool("get_order", "Returns one order with its invoices."),
]);

test("the tool with all the words in its name comes first", () => {
  expect(search(INDEX, "create invoice")[0]).toBe("create_invoice");
  expect(search(INDEX, "create a pet")[0]).toBe("create_pet");
});

test("words are found in descriptions and categories, in any case, and at their beginning", () => {
  expect(search(INDEX, "BILLING")).toEqual(["create_invoice"]);
  expect(search(INDEX, "animal")).toEqual(["create_pet", "list_pets"]);
  expect(search(INDEX, "inv")).toEqual(["create_invoice", "get_order"]);
  expect(search(INDEX, "orders")).toEqual(["get_order", "create_invoice"]);
});

test("plurals are the same word, and of similar names the one with the fewest other words comes first", () => {
  const index = new ToolIndex([
    tool("create_invoice_history", "Creates a history record for an invoice."),
    tool("create_invoice_attachment_by_file_name", "Creates an attachment for an invoice."),
    tool("create_invoices", "Creates one or more invoices."),
    tool("list_companies", "Lists companies with their addresses."),
  ]);
  expect(search(index, "create invoice")[0]).toBe("create_invoices");
  expect(search(index, "creating invoices")[0]).toBe("create_invoices");
  expect(search(index, "company address")).toEqual(["list_companies"]);
});

test("words that nothing has find nothing", () => {
  expect(search(INDEX, "zebra")).toEqual([]);
  expect(search(INDEX, "the of")).toEqual([]);
  expect(search(INDEX, "")).toEqual([]);
});

test("a very long query is cut: its first words decide", () => {
  const many = Array.from({ length: 100_000 }, (_, index) => `w${index}`).join(" ");
  expect(search(INDEX, `billing ${many}`)).toEqual(["create_invoice"]);
  expect(search(INDEX, `${many} billing`)).toEqual([]);
});
