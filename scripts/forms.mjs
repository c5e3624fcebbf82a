// The forms that source files export, and the TypeScript of the types that are derived from them.
import { resolve } from "node:path";
import { rolldown } from "rolldown";

/** The named forms that a source file exports, and those inside of them, by name. */
export async function loadForms(file) {
  const forms = new Map();
  for (const form of Object.values(await loadExportedForms([file]))) collect(form, forms);
  return forms;
}

/** The forms that source files export, by the names of the constants. */
export async function loadExportedForms(files) {
  const exported = Object.entries(await loadSources(files));
  return Object.fromEntries(exported.filter(([, value]) => value?.spec && value.traits));
}

/** What source files export: they are bundled, because Node does not run all TypeScript. */
export async function loadSources(files) {
  const all = {
    name: "all",
    resolveId: (id) => (id === "all" ? id : undefined),
    load: (id) => (id === "all" ? files.map((file) => `export * from "${resolve(file)}";`).join("\n") : undefined),
  };
  const build = await rolldown({ input: "all", plugins: [all], platform: "node", logLevel: "silent" });
  const { output } = await build.generate({ format: "esm", codeSplitting: false });
  await build.close();
  return import(`data:text/javascript;base64,${Buffer.from(output[0].code).toString("base64")}`);
}

function collect(form, forms) {
  if (form.traits.name !== undefined) {
    if (forms.has(form.traits.name)) return;
    forms.set(form.traits.name, form);
  }
  for (const inner of innerForms(form.spec)) collect(inner, forms);
}

function innerForms({ kind, of, members, kinds, get }) {
  if (kind === "record") return Object.values(members);
  if (kind === "kinds") return Object.values(kinds);
  if (kind === "lazy") return [get()];
  return of ? [of] : [];
}

/**
 * The interface of a record. `names`: those of other types by the forms that they are derived from. `isGiven`: what a program
 * may give for it; otherwise what reading gives.
 */
export function typeText(name, form, options) {
  return `interface ${name} ${membersText(form, options)}`;
}

export function membersText({ spec }, { names = new Map(), isGiven = false } = {}) {
  return new TypeWriter(names, isGiven).members(spec.members);
}

class TypeWriter {
  #names;
  #isGiven;

  constructor(names, isGiven) {
    this.#names = names;
    this.#isGiven = isGiven;
  }

  members(members, indent = "") {
    const lines = Object.entries(members).flatMap(([name, member]) => {
      const { says, optional, filled, default: usual, aliases = [] } = member.traits;
      const also = aliases.length === 0 ? [] : [`Also ${aliases.map((alias) => `\`${alias}\``).join(", ")}.`];
      const comment = [...(says === undefined ? [] : [says]), ...also].join(" ");
      const isOptional = this.#isGiven ? optional || filled : optional && usual === undefined;
      const type = `${this.#type(member, `${indent}  `)}${this.#isGiven && isOptional ? " | undefined" : ""}`;
      return [
        ...(comment === "" ? [] : [`${indent}  /** ${comment} */`]),
        `${indent}  ${this.#isGiven ? "readonly " : ""}${name}${isOptional ? "?" : ""}: ${type};`,
      ];
    });
    return ["{", ...lines, `${indent}}`].join("\n");
  }

  #type({ spec, traits }, indent) {
    const type =
      this.#names.get(spec) ?? (this.#isGiven ? traits.name : undefined) ?? this.#typeOfSpec(spec, { indent, traits });
    return traits.nullable ? `${type} | null` : type;
  }

  #typeOfSpec(spec, { indent, traits: { omitted } }) {
    switch (spec.kind) {
      case "text":
        return "string";
      case "number":
        return spec.kind;
      case "boolean":
        return omitted === false && !this.#isGiven ? "true" : "boolean";
      case "choice": {
        const options = spec.options.filter((option) => this.#isGiven || option !== omitted);
        return options.map((option) => JSON.stringify(option)).join(" | ");
      }
      case "constant":
        return JSON.stringify(spec.value);
      case "list":
        return `${this.#isGiven ? "readonly " : ""}${grouped(this.#type(spec.of, indent))}[]`;
      case "map": {
        const map = `Record<string, ${this.#type(spec.of, indent)}>`;
        return this.#isGiven ? `Readonly<${map}>` : map;
      }
      case "record":
        return this.members(spec.members, indent);
      case "kinds":
        return this.#union(Object.values(spec.kinds), indent);
      case "varying":
        return this.#union(spec.among, indent);
      case "lazy":
        return this.#type(spec.get(), indent);
      case "changed":
      case "custom":
        return spec.typeName ?? this.#typeOfFallback(spec.fallback);
      default:
        return "unknown";
    }
  }

  #typeOfFallback(fallback) {
    if (Array.isArray(fallback)) return "string[]";
    return typeof fallback === "object" ? "unknown" : typeof fallback;
  }

  #union(forms, indent) {
    return forms.map((each) => this.#type(each, indent)).join(" | ");
  }
}

function grouped(type) {
  return type.includes(" | ") && !type.startsWith("{") ? `(${type})` : type;
}
