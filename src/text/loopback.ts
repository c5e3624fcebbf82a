import { isIP } from "node:net";

/** Whether only programs of this machine reach an address. */
export function isLoopback(address: string): boolean {
  const bare = address.replace(/^\[(.*)\]$/, "$1");
  return bare === "localhost" || bare === "::1" || (isIP(bare) === 4 && bare.startsWith("127."));
}

/** An address in the form used in a URL. */
export function asHost(address: string): string {
  return isIP(address) === 6 ? `[${address}]` : address.toLowerCase();
}
