import type { Catalogue } from "./languages/en";

// Making a formatter takes longer than writing hundreds of times with it.
const formatters = new Map<string, { format(value: number): string }>();
function formatter(language: string, kind: string, make: () => { format(value: number): string }) {
  const key = `${language} ${kind}`;
  const known = formatters.get(key) ?? make();
  formatters.set(key, known);
  return known;
}

/** span writes a duration in milliseconds as people say it, in one or two units. */
export function span(t: Catalogue, milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return t.seconds(seconds);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return t.minutes(minutes);
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return t.hours(hours, minutes % 60);
  return t.days(Math.floor(hours / 24), hours % 24);
}

/** age writes how long ago a time was. */
export function age(t: Catalogue, at: string, now: number): string {
  const seconds = Math.floor((now - Date.parse(at)) / 1000);
  if (seconds < 2) return t.justNow;
  if (seconds < 60) return t.secondsAgo(seconds);
  if (seconds < 3600) return t.minutesAgo(Math.floor(seconds / 60));
  return t.hoursAgo(Math.floor(seconds / 3600));
}

/** clockTime writes a time of day, with the day where it is not today. */
export function clockTime(language: string, at: string | number, now: number): string {
  const time = new Date(at);
  const today = time.toDateString() === new Date(now).toDateString();
  const form: Intl.DateTimeFormatOptions = today ? { hour: "2-digit", minute: "2-digit" } : { dateStyle: "medium", timeStyle: "short" };
  return formatter(language, String(today), () => new Intl.DateTimeFormat(language, form)).format(time.getTime());
}

/** dayOf writes a day. */
export const dayOf = (language: string, at: string) => new Date(at).toLocaleDateString(language, { dateStyle: "medium" });

/** octets writes a size in decimal units. */
export function octets(language: string, n: number): string {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, n)) / 3));
  if (power === 0) return `${n} B`; // not "340 byte"
  const value = n / 1000 ** power;
  const digits = value < 10 ? 1 : 0;
  const form: Intl.NumberFormatOptions = { style: "unit", unit: units[power]!, unitDisplay: "short", maximumFractionDigits: digits };
  return formatter(language, `${power} ${digits}`, () => new Intl.NumberFormat(language, form)).format(value);
}
