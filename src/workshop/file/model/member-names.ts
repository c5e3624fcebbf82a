/**
 * The names of a path; undefined if it is not one. `\` before a character makes it a part of the name:
 * `odata\.type` is one name.
 */
export function memberNames(wire: string): { name: string; repeats: boolean }[] | undefined {
  const steps = wire.match(/(?:\\.|[^.\\])+|(?:^|(?<=\.))(?=\.|$)/gs) ?? [];
  const names = steps.map((text) => {
    const bare = text.replace(/(?<!\\)\[\]$/, "");
    const isName = bare !== "" && !/[[\]]/.test(bare.replaceAll(/\\./gs, ""));
    return { name: isName ? bare.replaceAll(/\\(.)/gs, "$1") : "", repeats: bare !== text };
  });
  return names.length === 0 || names.some(({ name }) => name === "") ? undefined : names;
}

/** The name of a member in forms and parameters, where a path is one name with dots. */
export function flatName(wire: string): string {
  return (
    memberNames(wire)
      ?.map(({ name }) => name)
      .join(".") ?? wire
  );
}

/** The path of one member, whatever its name. */
export function memberPath(name: string): string {
  return name.replaceAll(/[.\\[\]]/g, String.raw`\$&`);
}
