// The package declares the types of its main file only.
declare module "jsonc-parser/lib/esm/impl/parser.js" {
  export { parseTree } from "jsonc-parser/lib/esm/main.js";
}
declare module "jsonc-parser/lib/esm/impl/scanner.js" {
  export { createScanner } from "jsonc-parser/lib/esm/main.js";
}
