const FRACTION_DIGITS = 12;

const ZERO = "0".charCodeAt(0);

/** YYYY-MM-DD of an existing day. */
export function isDate(text: string): boolean {
  return text.length === 10 && isLike("0000-00-00", text, 0) && isDay(text);
}

/** ISO 8601 with optional seconds and zone, of an existing time. */
export function isDateTime(text: string): boolean {
  // By positions, because an answer may hold thousands, and a regular expression takes longer.
  if (!isLike("0000-00-00T00:00", text, 0) || !isDay(text)) return false;
  if (twoDigits(text, 11) > 23 || twoDigits(text, 14) > 59) return false;
  const zone = endOfSeconds(text, 16);
  if (zone === text.length || (text[zone] === "Z" && zone + 1 === text.length)) return true;
  if (zone + 6 !== text.length || !(isLike("+00:00", text, zone) || isLike("-00:00", text, zone))) return false;
  return twoDigits(text, zone + 1) < 24 && twoDigits(text, zone + 4) < 60;
}

/** Whether the text has digits and signs where the form has them. */
function isLike(form: string, text: string, from: number): boolean {
  for (let at = 0; at < form.length; at++) {
    const expected = form.charCodeAt(at);
    const code = text.charCodeAt(from + at);
    if (expected === ZERO ? !isDigit(code) : code !== expected) return false;
  }
  return true;
}

function isDigit(code: number): boolean {
  return code >= ZERO && code <= ZERO + 9;
}

/** Where the seconds at this place end; the same place if there are none, -1 if they are wrong. */
function endOfSeconds(text: string, from: number): number {
  if (text[from] !== ":") return from;
  // A leap second is written as second 60.
  if (!isLike(":00", text, from) || twoDigits(text, from + 1) > 60) return -1;
  const point = from + 3;
  if (text[point] !== ".") return point;
  let end = point + 1;
  while (isDigit(text.charCodeAt(end))) end++;
  return end > point + 1 && end <= point + 1 + FRACTION_DIGITS ? end : -1;
}

/** Whether a text that begins like a date begins with an existing day. */
function isDay(text: string): boolean {
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  if (month < 1 || month > 12 || day < 1) return false;
  return day <= 28 || day <= daysIn(twoDigits(text, 0) * 100 + twoDigits(text, 2), month);
}

function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - ZERO) * 10 + text.charCodeAt(at + 1) - ZERO;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}
