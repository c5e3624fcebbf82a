import { execFile } from "node:child_process";
import { findProgram } from "../process/find-program.ts";

/** A place for the key that encrypts the secrets, instead of a file. */
export interface KeyHolder {
  /** Undefined if there is no key or no keychain. */
  find(): Promise<Buffer | undefined>;
  /** False if it cannot be stored. */
  keep(key: Buffer): Promise<boolean>;
}

const SERVICE = "nexus-mcp";
const ACCOUNT = "secrets-key";
/** A locked keychain that waits for the user must not block everything. */
const TIMEOUT_MS = 3_000;

interface Call {
  program: string;
  args: string[];
  /** Secrets go through stdin, because arguments are visible to all users of the machine. */
  input?: string;
}

/**
 * The system's keychain: Keychain on macOS, the Secret Service on Linux; on other systems, or if it does not answer,
 * none.
 */
export class SystemKeychain implements KeyHolder {
  readonly #platform: NodeJS.Platform;
  readonly #variables: Readonly<Record<string, string | undefined>>;

  constructor({
    platform,
    variables,
  }: {
    platform: NodeJS.Platform;
    variables: Readonly<Record<string, string | undefined>>;
  }) {
    this.#platform = platform;
    this.#variables = variables;
  }

  async find(): Promise<Buffer | undefined> {
    const found = await this.#run(lookup(this.#platform));
    const key = Buffer.from((found ?? "").trim(), "base64");
    return key.length === 32 ? key : undefined;
  }

  async keep(key: Buffer): Promise<boolean> {
    await this.#run(storing(this.#platform, key.toString("base64")));
    // Only a key that can be read back counts as stored.
    return (await this.find())?.equals(key) ?? false;
  }

  async #run(call: Call | undefined): Promise<string | undefined> {
    if (!call) return undefined;
    const { args, input } = call;
    // By its full path: PATH may contain a relative folder, which would be any folder that the user is in.
    const program = findProgram(call.program, { env: this.#variables, platform: this.#platform });
    if (program === undefined) return undefined;
    return new Promise((resolve) => {
      const child = execFile(program, args, { env: this.#variables, timeout: TIMEOUT_MS }, (error, stdout) => {
        resolve(error ? undefined : stdout);
      });
      child.stdin?.on("error", () => {});
      child.stdin?.end(input ?? "");
    });
  }
}

function lookup(platform: NodeJS.Platform): Call | undefined {
  if (platform === "darwin")
    return { program: "security", args: ["find-generic-password", "-s", SERVICE, "-a", ACCOUNT, "-w"] };
  if (platform === "linux") return { program: "secret-tool", args: ["lookup", "service", SERVICE, "account", ACCOUNT] };
  return undefined;
}

function storing(platform: NodeJS.Platform, value: string): Call | undefined {
  if (platform === "darwin") {
    const input = `add-generic-password -U -s ${SERVICE} -a ${ACCOUNT} -w ${value}\n`;
    return { program: "security", args: ["-i"], input };
  }
  if (platform === "linux") {
    const args = ["store", "--label=Nexus secrets", "service", SERVICE, "account", ACCOUNT];
    return { program: "secret-tool", args, input: value };
  }
  return undefined;
}
