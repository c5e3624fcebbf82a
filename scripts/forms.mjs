// The forms that source files export, and the TypeScript of the types that are derived from them.
import { rolldown } from "rolldown";

/** The named forms that are exported by source files, and those inside of them, by name. */
export async function loadForms(files) {
  const forms = new Map();
  for (const file of files) {
    const exported = Object.values(await loadSource(file));
    for (const value of exported) if (value?.spec && value.traits) collect(value, forms);
  }
  return forms;
}

/** What a source file exports: the sources are bundled, because Node does not run all TypeScript. */
export async function loadSource(file) {
  const build = await rolldown({ input: file, platform: "node", logLevel: "silent" });
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

/** The interface of a record with a name. */
export function typeText({ spec, traits }) {
  return `interface ${traits.name} ${membersText(spec.members)}`;
}

function membersText(members, indent = "") {
  const lines = Object.entries(members).flatMap(([name, member]) => {
    const { says, optional, filled, aliases = [] } = member.traits;
    const also = aliases.length === 0 ? [] : [`Also ${aliases.map((alias) => `\`${alias}\``).join(", ")}.`];
    const comment = [...(says === undefined ? [] : [says]), ...also].join(" ");
    const isOptional = optional || filled;
    const type = `${typeOf(member, `${indent}  `)}${isOptional ? " | undefined" : ""}`;
    return [
      ...(comment === "" ? [] : [`${indent}  /** ${comment} */`]),
      `${indent}  readonly ${name}${isOptional ? "?" : ""}: ${type};`,
    ];
  });
  return ["{", ...lines, `${indent}}`].join("\n");
}

function typeOf({ spec, traits }, indent) {
  const type = traits.name ?? typeOfSpec(spec, indent);
  return traits.nullable ? `${type} | null` : type;
}

function typeOfSpec(spec, indent) {
  switch (spec.kind) {
    case "text":
      return "string";
    case "number":
    case "boolean":
      return spec.kind;
    case "choice":
      return spec.options.map((option) => JSON.stringify(option)).join(" | ");
    case "constant":
      return JSON.stringify(spec.value);
    case "list":
      return `readonly ${grouped(typeOf(spec.of, indent))}[]`;
    case "map":
      return `Readonly<Record<string, ${typeOf(spec.of, indent)}>>`;
    case "record":
      return membersText(spec.members, indent);
    case "kinds":
      return Object.values(spec.kinds)
        .map((each) => typeOf(each, indent))
        .join(" | ");
    case "lazy":
      return typeOf(spec.get(), indent);
    case "changed":
      return typeOf(spec.of, indent);
    case "custom":
      return spec.type ?? "unknown";
    default:
      return "unknown";
  }
}

function grouped(type) {
  return type.includes(" ") ? `(${type})` : type;
}
