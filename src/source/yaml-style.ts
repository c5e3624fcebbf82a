import type { ToStringOptions } from "yaml";

/** The layout of a YAML text, for new parts of it. */
export function yamlStyle(text: string): ToStringOptions & { indent: number } {
  const [, indent = "  "] = /^( {1,8})[^\s#]/m.exec(text) ?? [];
  return {
    indent: indent.length,
    lineWidth: 0,
    flowCollectionPadding: /[[{] /.test(text),
    // A list below a key may be indented or not; both are common.
    indentSeq: !/^( *)[^\s#-][^\n]*:[^\S\n]*\n(?:\s*#[^\n]*\n)*\1- /m.test(text),
  };
}
