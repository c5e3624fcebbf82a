/**
 * The texts in the places of `{…}`, if the text was made from the template, each at least one character long and the
 * first as long as possible; otherwise undefined. Runs in one pass: a regular expression with many places would try all
 * divisions.
 */
export function filledPlaces(template: string, text: string): string[] | undefined {
  const [first = "", ...parts] = template.split(/\{[^{}]*\}/);
  const last = parts.pop();
  if (last === undefined) return text === first ? [] : undefined;
  if (!text.startsWith(first) || !text.endsWith(last)) return undefined;
  const values: string[] = [];
  let end = text.length - last.length;
  for (const part of parts.toReversed()) {
    const start = end - 1 - part.length;
    const found = start < first.length ? -1 : text.lastIndexOf(part, start);
    if (found < first.length) return undefined;
    values.unshift(text.slice(found + part.length, end));
    end = found;
  }
  return end > first.length ? [text.slice(first.length, end), ...values] : undefined;
}
