import type { Catalogue } from "./languages/en";

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
  return time.toLocaleString(language, today ? { hour: "2-digit", minute: "2-digit" } : { dateStyle: "medium", timeStyle: "short" });
}

/** dayOf writes a day. */
export const dayOf = (language: string, at: string) => new Date(at).toLocaleDateString(language, { dateStyle: "medium" });

/** octets writes a size in decimal units. */
export function octets(language: string, n: number): string {
  const units = ["byte", "kilobyte", "megabyte"] as const;
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, n)) / 3));
  const value = n / 1000 ** power;
  return new Intl.NumberFormat(language, { style: "unit", unit: units[power]!, unitDisplay: "short", maximumFractionDigits: value < 10 && power > 0 ? 1 : 0 }).format(value);
}
