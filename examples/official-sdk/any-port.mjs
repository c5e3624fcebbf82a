// The originals listen on fixed ports. Loaded before one of them, this has it listen on a free one, and print where.
import { Server } from "node:net";

const { value: listen } = Object.getOwnPropertyDescriptor(Server.prototype, "listen");
Server.prototype.listen = function (...args) {
  this.once("listening", () => console.log(`Listening on http://127.0.0.1:${this.address().port}/mcp`));
  return Reflect.apply(listen, this, [0, "127.0.0.1", ...args.filter((arg) => typeof arg === "function")]);
};
