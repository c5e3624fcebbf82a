import { plainValue, type Member, type SourceNode } from "../source/source-node.ts";
import { loadSection } from "./load-section.ts";
import type { ConfigContext } from "./read/places.ts";
import { meantKey, type FileSetting, type SettingsSection } from "./settings-section.ts";

/** `"models": { … }`. */
export interface ModelsSetting {
  /** `provider:model`, and where it is written. */
  default: { name: string; file: string; place: { line: number; column: number } } | undefined;
  providers: readonly ProviderSetting[];
}

/** One provider as it is written: its variables are not resolved yet, because an unused one must not fail. */
export interface ProviderSetting {
  name: string;
  type: string;
  file: string;
  place: { line: number; column: number };
  /** With `baseUrl`, `apiKey` and `headers`, of the right types. */
  node: SourceNode;
  prices: Readonly<Record<string, { input: number; output: number }>>;
  models: readonly string[];
}

const KEYS = ["type", "baseUrl", "apiKey", "headers", "prices", "models"];
const PRICE_KEYS = ["input", "output"];
const NAME = /^[A-Za-z][\w.-]{0,63}$/;

/** The models in the configuration. Throws where something is not valid. */
export async function loadModelsSetting(
  context: ConfigContext,
  explicit: string | undefined,
  types: readonly string[],
): Promise<ModelsSetting> {
  const section = await loadSection("models", context, explicit);
  section.checkKeys(["default", "providers"]);
  const given = section.find("default");
  const name = given && plainValue(given.node);
  if (given && (typeof name !== "string" || name === "")) {
    throw section.invalid(given, "is not the name of a model", `Write "default": "provider:model".`);
  }
  return {
    default: given && typeof name === "string" ? { name, file: given.file, place: given.place } : undefined,
    providers: providersOf(section, types),
  };
}

function providersOf(section: SettingsSection, types: readonly string[]): ProviderSetting[] {
  const setting = section.find("providers");
  if (!setting) return [];
  const { node, file } = setting;
  if (node.kind !== "object") throw section.invalid(setting, "is not an object");
  return node.members.map((member) => {
    return new ProviderReader(section, { ...member, key: `providers.${member.key}`, file }, types).read(member.key);
  });
}

/** Checks what a file says about one provider. */
class ProviderReader {
  readonly #section: SettingsSection;
  readonly #setting: FileSetting;
  readonly #types: readonly string[];

  constructor(section: SettingsSection, setting: FileSetting, types: readonly string[]) {
    this.#section = section;
    this.#setting = setting;
    this.#types = types;
  }

  read(name: string): ProviderSetting {
    const { node, file, place } = this.#setting;
    if (!NAME.test(name)) {
      throw this.#section.invalid(this.#setting, "is not a valid name", "Use letters, digits, dots, dashes and _.");
    }
    if (node.kind !== "object") throw this.#section.invalid(this.#setting, "is not an object");
    for (const member of node.members) {
      if (!KEYS.includes(member.key)) throw this.#invalid(member, "is unknown", meantKey(member.key, KEYS));
    }
    return {
      name,
      type: this.#type(node.members),
      file,
      place,
      node: { ...node, members: node.members.filter((member) => this.#isAddress(member)) },
      prices: this.#prices(node.members.findLast(({ key }) => key === "prices")),
      models: this.#models(node.members.findLast(({ key }) => key === "models")),
    };
  }

  #type(members: readonly Member[]): string {
    const member = members.findLast(({ key }) => key === "type");
    const known = this.#types.map((type) => `"${type}"`).join(", ");
    if (!member) throw this.#section.invalid(this.#setting, `has no "type"`, `Use one of ${known}.`);
    const type = this.#types.find((each) => each === plainValue(member.node));
    if (type === undefined) throw this.#invalid(member, "is not a known type", `Use one of ${known}.`);
    return type;
  }

  /** Whether a member says where requests go, and with what. */
  #isAddress(member: Member): boolean {
    const value = plainValue(member.node);
    if (member.key === "baseUrl" || member.key === "apiKey") {
      if (typeof value !== "string" || value === "") throw this.#invalid(member, "is not a text");
      return true;
    }
    if (member.key !== "headers") return false;
    const headers = member.node.kind === "object" ? member.node.members : undefined;
    if (!headers?.every(({ node }) => typeof plainValue(node) === "string")) {
      throw this.#invalid(member, "is not an object of texts", `Write "headers": { "X-Name": "value" }.`);
    }
    return true;
  }

  #prices(member: Member | undefined): ProviderSetting["prices"] {
    if (!member) return {};
    if (member.node.kind !== "object") throw this.#invalid(member, "is not an object");
    return Object.fromEntries(member.node.members.map((model) => [model.key, this.#price(member, model)]));
  }

  #price(prices: Member, model: Member): { input: number; output: number } {
    const hint = `Write "${model.key}": { "input": 3, "output": 15 }: US dollars for a million tokens.`;
    const place = { ...model, key: `${prices.key}.${model.key}` };
    if (model.node.kind !== "object") throw this.#invalid(place, "is not an object", hint);
    const amount = (key: string): number => {
      const found =
        model.node.kind === "object" ? model.node.members.findLast((member) => member.key === key) : undefined;
      const value = found && plainValue(found.node);
      if (typeof value === "number" && Number.isFinite(value) && value >= 0) return value;
      throw this.#invalid(place, `has no valid "${key}"`, hint);
    };
    const unknown = model.node.members.find(({ key }) => !PRICE_KEYS.includes(key));
    if (unknown) throw this.#invalid({ ...unknown, key: `${place.key}.${unknown.key}` }, "is unknown", hint);
    return { input: amount("input"), output: amount("output") };
  }

  #models(member: Member | undefined): string[] {
    const value: unknown = member ? plainValue(member.node) : [];
    if (Array.isArray(value) && value.every((name) => typeof name === "string" && name !== ""))
      return value as string[];
    throw this.#invalid(member ?? this.#setting, "is not a list of names", `Write "models": ["name"].`);
  }

  #invalid(member: Member, problem: string, hint?: string): Error {
    const key = member.key.startsWith("providers.") ? member.key : `${this.#setting.key}.${member.key}`;
    return this.#section.invalid({ ...member, key, file: this.#setting.file }, problem, hint);
  }
}
