import type { Fault } from "./read/problem.ts";
import { findMember, plainValue, type Place, type SourceNode } from "../source/source-node.ts";
import type { Section } from "./read/find-servers.ts";
import type { ServerDefinition } from "./read/server-definition.ts";
import { readBytes, readCount } from "./gateway-limits.ts";
import { isServerId } from "./read/server-id.ts";

type Settings = Pick<
  ServerDefinition,
  "name" | "enabled" | "autoStart" | "failIfNoTools" | "tools" | "agents" | "pin" | "isolation" | "prefix" | "limits"
>;

const ISOLATIONS: readonly ServerDefinition["isolation"][] = ["owner", "call", "shared"];

/** Reads the settings of a server that do not concern how it is reached. */
export class SettingsReader {
  /** The first error; its setting has the default. */
  fault: Fault | undefined;
  readonly #node: SourceNode;
  readonly #section: Section;

  constructor(node: SourceNode, section: Section) {
    this.#node = node;
    this.#section = section;
  }

  read(): Settings {
    const enabled = this.#flag("enabled") ?? true;
    const disabled = this.#flag("disabled") ?? false;
    const name = this.#value("name");
    return {
      name: typeof name === "string" ? name : undefined,
      enabled: this.#section.enabled && enabled && !disabled,
      autoStart: this.#flag("auto_start") ?? this.#section.autoStart,
      failIfNoTools: this.#flag("fail_if_no_tools") ?? false,
      tools: this.#tools(),
      ...this.#agents(),
      ...this.#pin(),
      isolation: this.#isolation(),
      ...this.#prefix(),
      ...this.#limits(),
    };
  }

  #flag(key: string): boolean | undefined {
    const value = this.#value(key);
    if (value === undefined || value === null || typeof value === "boolean") return value ?? undefined;
    const meant = /^(?:false|no|off|0)$/i.test(JSON.stringify(value).replaceAll('"', "")) ? "false" : "true";
    this.#wrong(key, "is not true or false", `Write "${key}": ${meant}, without quotes around ${meant}.`);
    return undefined;
  }

  #tools(): ServerDefinition["tools"] {
    const node = findMember(this.#node, "tools")?.node;
    if (node && node.kind !== "object") {
      if (plainValue(node) !== null)
        this.#wrong("tools", "is not an object", `Write "tools": { "allow": ["search"] }.`);
      return {};
    }
    const allow = this.#names("allow");
    const deny = this.#names("deny");
    return { ...(allow && { allow }), ...(deny && { deny }) };
  }

  #names(key: "allow" | "deny"): string[] | undefined {
    const member = findMember(findMember(this.#node, "tools")?.node, key);
    const value = member && plainValue(member.node);
    if (value === undefined || value === null) return undefined;
    if (Array.isArray(value) && value.every((name) => typeof name === "string")) return value;
    this.#wrong("tools", `has a "${key}" that is not a list of names`, `Write "${key}": ["search"].`, member?.place);
    // An invalid list must not allow what it was meant to deny.
    return key === "allow" ? [] : undefined;
  }

  #agents(): Pick<Settings, "agents"> {
    const value = this.#value("agents");
    if (value === undefined || value === null) return {};
    if (Array.isArray(value) && value.every((name) => typeof name === "string")) return { agents: value };
    this.#wrong("agents", "is not a list of names", `Write "agents": ["chat"].`);
    // An invalid list must not share what it was meant to hide.
    return { agents: [] };
  }

  #pin(): Pick<Settings, "pin"> {
    const value = this.#value("pin");
    if (value === undefined || value === null || value === false) return {};
    if (value === true) return { pin: true };
    if (Array.isArray(value) && value.every((name) => typeof name === "string")) {
      return value.length === 0 ? {} : { pin: value };
    }
    this.#wrong("pin", "is not true or a list of tool names", `Write "pin": true, or "pin": ["search*"].`);
    return { pin: true };
  }

  #isolation(): ServerDefinition["isolation"] {
    const value = this.#value("isolation") ?? "owner";
    const known = ISOLATIONS.find((isolation) => isolation === value);
    if (!known) this.#wrong("isolation", "is not a known value", `Use "owner", "call" or "shared".`);
    return known ?? "owner";
  }

  #prefix(): Pick<Settings, "prefix"> {
    const value = this.#value("prefix");
    if (value === undefined || value === null) return {};
    if (typeof value === "string" && isServerId(value)) return { prefix: value };
    const hint = `Use 1 to 32 lower-case letters, digits and dashes, starting with a letter: "prefix": "gh".`;
    this.#wrong("prefix", "cannot be used in names", hint);
    return {};
  }

  #limits(): Pick<Settings, "limits"> {
    const processes = this.#limit("max_processes", readCount, "Use a number from 1.");
    const memoryBytes = this.#limit("max_memory", readBytes, `Use "512MB", "2GB" or a number of bytes.`);
    if (processes === undefined && memoryBytes === undefined) return {};
    return { limits: { ...(processes && { processes }), ...(memoryBytes && { memoryBytes }) } };
  }

  #limit(key: string, read: (value: unknown) => number | undefined, hint: string): number | undefined {
    const value = this.#value(key);
    if (value === undefined || value === null) return undefined;
    const limit = read(value);
    if (limit === undefined) this.#wrong(key, "is not a valid limit", hint);
    return limit;
  }

  #value(key: string): unknown {
    const member = findMember(this.#node, key);
    return member && plainValue(member.node);
  }

  #wrong(key: string, problem: string, hint: string, place?: Place): void {
    const at = place ?? findMember(this.#node, key)?.place ?? this.#node.place;
    this.fault ??= { what: `"${key}" ${problem}`, hint, place: at };
  }
}
