import { surePlaceholderIn } from "./address-placeholder.ts";
import type { ToolFile } from "./tool-file.ts";

/** An address of a tool file that is not known yet. */
interface OpenAddress {
  /** Where it is in the file: `upstream.base`. */
  path: string;
  address: string;
  /** What has to be filled in; undefined if the whole address is unknown. */
  placeholder: string | undefined;
}

/** The addresses of a file that nothing can be sent to: unknown ones (`.invalid`), and those with a placeholder. */
export function openAddresses({ upstream, secrets, tools }: ToolFile): OpenAddress[] {
  const all: [path: string, address: string | undefined][] = [
    ["upstream.base", upstream.base],
    ...upstream.allow.map((address, index): [string, string] => [`upstream.allow.${index}`, address]),
    ...Object.entries(secrets).map(([name, { oauth }]): [string, string | undefined] => [
      `secrets.${name}.oauth.tokenUrl`,
      oauth?.tokenUrl,
    ]),
    ...Object.entries(tools).map(([name, { request }]): [string, string | undefined] => [
      `tools.${name}.request.base`,
      request?.base,
    ]),
  ];
  return all.flatMap(([path, address]) => {
    if (address === undefined) return [];
    const placeholder = surePlaceholderIn(address);
    const isUnknown = URL.canParse(address) && new URL(address).hostname.endsWith(".invalid");
    return isUnknown || placeholder !== undefined ? [{ path, address, placeholder }] : [];
  });
}
