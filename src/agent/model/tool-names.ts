import { shortName } from "../../text/digest.ts";

const NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** Names of tools as providers accept them, and back. Names that already fit stay as they are. */
export class ToolNames {
  readonly #own = new Map<string, string>();

  toProvider(name: string): string {
    if (NAME.test(name)) return name;
    const sent = `${name.replaceAll(/[^A-Za-z0-9_-]/g, "_").slice(0, 55)}_${shortName(name).slice(0, 8)}`;
    this.#own.set(sent, name);
    return sent;
  }

  fromProvider(sent: string): string {
    return this.#own.get(sent) ?? sent;
  }
}
