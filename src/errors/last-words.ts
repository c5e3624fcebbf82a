/**
 * Lines of a stack trace that do not explain the error: frames, dumped members, labels of our own reports, Node's
 * version, hints of runtimes.
 */
const OF_TRACE =
  /^\s*(?:at .*|Node\.js v\d.*|\(Use `node .*|npm (?:notice|warn).*|(?:Run|See) '[^']+ --help'.*)$|^\s+(?:likely cause|\w+): .*,?$/;
/** Of npm's report about an error: the first line with a sentence says what happened; the others are codes and advice. */
const NPM_SENTENCE =
  /^npm (?:error|ERR!) (?!(?:code|errno|syscall|path|dest|cwd|command|cb|signal|tried|config)\b|A complete log|Note that|In most cases)\W*\w+\W+\w/;
/** Messages of servers without an error. */
const ANNOUNCES = /\b(?:running|started|starting|listening|ready|connected|welcome|initiali[sz](?:ed|ing)|loaded)\b/i;
const NAMES_ERROR = /\w*(Error|Exception|error|panic)\b/;
/** `FATAL: …`, `[error] …`, `TypeError: …`, `panic: …`, `thread 'main' panicked at …` */
const BEGINS_WITH_ERROR =
  /^\W{0,2}(?:FATAL|fatal|ERR_|docker: Error\b|ERROR\b|error:|panic|Uncaught|[\w.]*(?:Error|Exception)\b|thread .* panicked)/;

/**
 * The line of a process's stderr that explains its exit best: the last one that begins with an error, otherwise the
 * last one with words. npm explains first, and ends with advice.
 */
export function lastWords(stderr: readonly string[]): string | undefined {
  const spoken = stderr.filter((line) => line.trim() !== "");
  const telling = spoken.filter(tells);
  const last = telling.at(-1);
  const words =
    telling.find((line) => NPM_SENTENCE.test(line)) ??
    telling.findLast((line) => BEGINS_WITH_ERROR.test(line)) ??
    (last === spoken.at(-1) ? last : undefined) ??
    telling.findLast((line) => NAMES_ERROR.test(line)) ??
    last;
  return words?.trim();
}

function tells(line: string): boolean {
  // Not a line of brackets, rules, boxes or drawn letters.
  if (!/\p{L}{2}/u.test(line) || OF_TRACE.test(line)) return false;
  return (
    !ANNOUNCES.test(line) || NAMES_ERROR.test(line) || /\b(?:not|no|cannot|can't|fail\w*|refused|denied)\b/i.test(line)
  );
}
