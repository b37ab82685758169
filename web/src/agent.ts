// What a person calls the program that signed in, by its User-Agent.

// The first that is named counts: other browsers name Chrome and Safari too, and phones name Linux and Mac OS X.
const browsers: [RegExp, string][] = [
  [/\bEdgA?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\b(Firefox|FxiOS)\//, "Firefox"],
  [/(Chrome|Chromium|CriOS)\//, "Chrome"],
  [/\bSafari\//, "Safari"],
];
const systems: [RegExp, string][] = [
  [/\bAndroid\b/, "Android"],
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bWindows\b/, "Windows"],
  [/\bMac OS X\b/, "macOS"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bLinux\b/, "Linux"],
];
const longest = 80; // characters

const firstIn = (names: [RegExp, string][], agent: string) => names.find(([pattern]) => pattern.test(agent))?.[1];

/** agentOf is the browser and the system, or the beginning of what the program calls itself; "" where it says nothing. */
export function agentOf(userAgent: string): string {
  const browser = firstIn(browsers, userAgent);
  const system = firstIn(systems, userAgent);
  return browser ? [browser, system].filter(Boolean).join(" · ") : userAgent.trim().slice(0, longest);
}
