import { choice, list, map, number, record, text, type Infer } from "../format/form.ts";
import { findMember, type SourceNode } from "../source/source-node.ts";
import { loadSection } from "./load-section.ts";
import type { ConfigContext } from "./read/places.ts";

/** Kinds of interfaces to models. */
export const PROVIDER_TYPES = ["anthropic", "openai", "openai-compatible"] as const;
export type ProviderType = (typeof PROVIDER_TYPES)[number];
/** The variable that has the key of a company, where the configuration names none. */
export const KEY_VARIABLES: Readonly<Partial<Record<ProviderType, string>>> = {
  anthropic: "ANTHROPIC_API_KEY",
  openai: "OPENAI_API_KEY",
};

const DOLLARS = number({ least: 0 }).advice(`Write { "input": 3, "output": 15 }: US dollars for a million tokens.`);

const PROVIDER = record({
  type: choice(PROVIDER_TYPES).says("The interface that it has."),
  baseUrl: text().variable().says("Where it is reached. Default: the address of the company.").optional(),
  apiKey: text().variable().secret().says("The key. Default: from the variable of the environment.").optional(),
  headers: map(text({ empty: true }).secret())
    .advice(`Write "headers": { "X-Name": "value" }.`)
    .says("Headers of each request.")
    .optional(),
  prices: map(record({ input: DOLLARS, output: DOLLARS }))
    .says("By model: US dollars for a million tokens.")
    .optional(),
  models: list(text()).advice(`Write "models": ["name"].`).says("Names of models.").optional(),
});

/** What the configuration may say about models. */
export const MODELS = record({
  default: text()
    .advice(`Write "default": "provider:model".`)
    .says("The model that is used if nothing says which one: `provider:model`.")
    .optional(),
  providers: map(PROVIDER, {
    names: text({
      pattern: /^[A-Za-z][\w.-]{0,63}$/,
      not: "is not a valid name",
      hint: "Use letters, digits, dots, dashes and _.",
    }),
  })
    .says("Companies and servers with models, by names of your own.")
    .optional(),
});

/** `"models": { … }`. */
export interface ModelsSetting {
  /** `provider:model`, and where it is written. */
  default: { name: string; file: string; place: { line: number; column: number } } | undefined;
  providers: readonly ProviderSetting[];
}

/** One provider as it is written: its variables are not resolved yet, because an unused one must not fail. */
export interface ProviderSetting extends Pick<Infer<typeof PROVIDER>, "type"> {
  name: string;
  file: string;
  place: { line: number; column: number };
  /** With `baseUrl`, `apiKey` and `headers`, of the right types. */
  node: SourceNode;
  prices: NonNullable<Infer<typeof PROVIDER>["prices"]>;
  models: readonly string[];
}

const ADDRESS = ["baseUrl", "apiKey", "headers"];

/** The models in the configuration. Throws where something is not valid. */
export async function loadModelsSetting(context: ConfigContext, explicit: string | undefined): Promise<ModelsSetting> {
  const section = await loadSection("models", context, explicit);
  section.checkKeys(MODELS);
  const named = section.read(MODELS, "default");
  const providers = section.read(MODELS, "providers");
  return {
    default: named && { name: named.value, file: named.file, place: named.place },
    providers: Object.entries(providers?.value ?? {}).flatMap(([name, { type, prices = {}, models = [] }]) => {
      const member = findMember(providers?.node, name);
      if (!providers || member?.node.kind !== "object") return [];
      const node = { ...member.node, members: member.node.members.filter(({ key }) => ADDRESS.includes(key)) };
      return [{ name, type, file: providers.file, place: member.place, node, prices, models }];
    }),
  };
}
