/** Whether only programs of this machine reach an address. */
export function isLoopback(address: string): boolean {
  const bare = address.replace(/^\[(.*)\]$/, "$1");
  return bare === "localhost" || bare === "::1" || /^127(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/.test(bare);
}

/** An address in the form used in a URL. */
export function asHost(address: string): string {
  // A name and an address of IPv4 have no colon.
  return address.includes(":") ? `[${address}]` : address.toLowerCase();
}
