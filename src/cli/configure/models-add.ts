import { changeText } from "../../config/edit/edit.ts";
import { KEY_VARIABLES, PROVIDER_TYPES, type ProviderType } from "../../config/models-setting.ts";
import { NexusError } from "../../errors/nexus-error.ts";
import { mayBeSecretName } from "../../masking/secret-names.ts";
import type { SourceChange } from "../../source/source-change.ts";
import { findMember, plainValue, type SourceNode } from "../../source/source-node.ts";
import { visible } from "../../text/visible.ts";
import { defineCommand } from "../command/command.ts";
import { wrongUsage } from "../command/command-line.ts";
import { placesOf } from "./configured-servers.ts";
import { targetFile } from "./target-file.ts";
import { shortPath } from "../output/short-path.ts";

/** nexus models add local --url http://127.0.0.1:11434/v1 --model qwen3 */
export const modelsAdd = defineCommand({
  usage:
    "nexus models add <name> [--type TYPE] [--url URL] [--key '${secret:NAME}'] [--model NAME]… [--default] [--force]",
  description: `Adds a provider of models to your own configuration file (default: ~/.nexus/mcp.json), or to that of --config. Comments and order
are preserved. Types are ${PROVIDER_TYPES.join(", ")}; default: openai-compatible with --url, otherwise the name.

A key is never written: --key names a stored secret or a variable of the environment. The first model of --model becomes the default
where there is none, and with --default in any case.`,
  words: { min: 1, max: 1 },
  options: {
    type: { type: "string", value: "TYPE", help: "the interface that the provider has" },
    url: { type: "string", value: "URL", help: "where it is reached; default: the address of the company" },
    key: {
      type: "string",
      value: "REFERENCE",
      help: "${secret:NAME} or ${NAME}; default: the variable of the company",
    },
    model: { type: "string", multiple: true, value: "NAME", help: "the name of a model; repeatable" },
    default: { type: "boolean", help: "the first --model is used if nothing says which one" },
    force: { type: "boolean", help: "replace a provider with this name" },
  },
  examples: [
    ["nexus models add local --url http://127.0.0.1:11434/v1 --model qwen3", "a model of Ollama"],
    ["nexus secrets set work && nexus models add anthropic --key '${secret:work}'", "a company, with a stored key"],
    [
      "nexus models add office --url https://llm.example.com/v1 --key '${OFFICE_KEY}' --model large --default",
      "a gateway",
    ],
  ],

  async run(context) {
    const { words, options, flags, out, surroundings, stateFolder } = context;
    const [name = ""] = words;
    const provider = providerOf(name, options);
    const [first] = options.model ?? [];
    if (options.default && first === undefined) {
      throw wrongUsage("--default needs a model", "Add --model NAME: the first one becomes the default.");
    }
    const places = placesOf(context);
    const { file } = await targetFile({ config: flags.config }, places);
    let chosen: string | undefined;
    const edit = async (text: string) => {
      const edited = await changeText(text, file, (root) => {
        const change = planned(root, { name, provider, replaces: options.force === true, file });
        const isDefault = first !== undefined && (options.default === true || !hasDefault(root));
        chosen = isDefault ? `${name}:${first}` : undefined;
        return [change(chosen)];
      });
      if (edited === undefined) throw refused(file, "Nexus cannot edit the file without changing other parts of it");
      return edited;
    };
    const { editTrusted } = await import("../../config/edit/edit-trusted.ts");
    const { trustStore } = await import("../../host/servers/load-options.ts");
    await editTrusted(file, edit, { trust: trustStore(surroundings, stateFolder), surroundings: places });
    if (out.json) return out.value({ provider: name, type: provider.type, file, default: chosen ?? null });
    out.line(`Added ${out.style("bold", visible(name))} to ${shortPath(file, surroundings.home)}`);
    if (chosen !== undefined) out.line(out.style("dim", `  the default is ${visible(chosen)}`));
    const missing = missingKey(name, provider, surroundings.variables);
    if (missing !== undefined) out.warn(missing);
    out.note(`To test it: nexus models test ${visible(first === undefined ? `${name}:MODEL` : `${name}:${first}`)}`);
  },
});

interface WrittenProvider {
  type: ProviderType;
  baseUrl?: string;
  apiKey?: string;
  models?: readonly string[];
}

/** What to do where a company's key is not known. The variable of the company goes to no other address. */
function missingKey(
  name: string,
  { type, baseUrl, apiKey }: WrittenProvider,
  variables: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const variable = KEY_VARIABLES[type];
  if (variable === undefined || apiKey !== undefined) return undefined;
  if (baseUrl === undefined && variables[variable]) return undefined;
  const stored = `nexus secrets set ${name}, and add it again with --key '\${secret:${name}}' --force`;
  return `It has no key. ${baseUrl === undefined ? `Set ${variable}, or store one: ` : "Store one: "}${stored}`;
}

interface AddedOptions {
  type?: string | undefined;
  url?: string | undefined;
  key?: string | undefined;
  model?: readonly string[] | undefined;
}

function providerOf(name: string, { type: given, url, key, model }: AddedOptions): WrittenProvider {
  if (!/^[A-Za-z][\w.-]{0,63}$/.test(name)) {
    throw wrongUsage(`"${name}" is not a valid name of a provider`, "Use letters, digits, dots, dashes and _.");
  }
  const type = PROVIDER_TYPES.find((each) => each === (given ?? (url === undefined ? name : "openai-compatible")));
  if (!type) {
    const types = `Types: ${PROVIDER_TYPES.join(", ")}.`;
    if (given !== undefined) throw wrongUsage(`--type "${given}" is not a type of providers`, types);
    throw wrongUsage(`The address of "${name}" is missing`, `Add --url URL, or --type TYPE. ${types}`);
  }
  if (type === "openai-compatible" && url === undefined) {
    throw wrongUsage(`The address of "${name}" is missing`, "Add --url, for example --url http://127.0.0.1:11434/v1.");
  }
  if (url !== undefined && !(/\$\{/.test(url) || (URL.canParse(url) && /^https?:/.test(url)))) {
    throw wrongUsage("--url is not an http or https address", "Use --url http://127.0.0.1:11434/v1.");
  }
  if (url !== undefined && holdsKey(url)) {
    throw wrongUsage(
      "--url holds a key, which is never written to the file",
      `Store it with: nexus secrets set ${name}. Then write '\${secret:${name}}' in its place, or use --key.`,
    );
  }
  if (model?.includes("")) throw wrongUsage("--model is empty", "Use --model NAME, or leave it out.");
  if (key !== undefined && !/^\$\{[^{}]+\}$/.test(key)) {
    throw wrongUsage(
      "--key names a secret or a variable, because a key is never written to the file",
      `Store it with: nexus secrets set ${name}. Then use --key '\${secret:${name}}'.`,
    );
  }
  return {
    type,
    ...(url === undefined ? {} : { baseUrl: url }),
    ...(key === undefined ? {} : { apiKey: key }),
    ...(model === undefined ? {} : { models: [...model] }),
  };
}

/** Whether a password or a parameter is written out. */
function holdsKey(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { password, searchParams } = new URL(url);
  const isLiteral = (value: string) => value !== "" && !/\$(?:\{|%7B)/i.test(value);
  return isLiteral(password) || [...searchParams].some(([name, value]) => isLiteral(value) && mayBeSecretName(name));
}

interface Addition {
  name: string;
  provider: WrittenProvider;
  replaces: boolean;
  file: string;
}

/** The changes of the file, with the default that is set. */
function planned(
  root: SourceNode,
  { name, provider, replaces, file }: Addition,
): (chosen: string | undefined) => SourceChange[] {
  const models = findMember(root, "models")?.node;
  const providers = findMember(models, "providers")?.node;
  for (const [where, node] of Object.entries({ models, "models.providers": providers })) {
    if (node === undefined || node.kind === "object" || plainValue(node) === null) continue;
    throw refused(
      file,
      `"${where}" is not an object`,
      "Remove it, or write an object in its place: nothing is replaced.",
    );
  }
  if (findMember(providers, name) && !replaces) {
    throw refused(
      file,
      `The file already has a provider "${name}"`,
      "Choose another name, or replace it with --force.",
    );
  }
  return (chosen) => {
    if (models?.kind !== "object") {
      const first = chosen === undefined ? {} : { default: chosen };
      return [{ path: ["models"], value: { ...first, providers: { [name]: provider } } }];
    }
    const added =
      providers?.kind === "object"
        ? { path: ["models", "providers", name], value: provider }
        : { path: ["models", "providers"], value: { [name]: provider } };
    return [added, ...(chosen === undefined ? [] : [{ path: ["models", "default"], value: chosen }])];
  };
}

function hasDefault(root: SourceNode): boolean {
  const node = findMember(findMember(root, "models")?.node, "default")?.node;
  return node !== undefined && plainValue(node) !== null;
}

function refused(file: string, message: string, hint = "Edit it in an editor."): NexusError {
  return new NexusError("CONFIG_INVALID", message, { phase: "config", source: { file }, hint, mayHaveReached: false });
}
