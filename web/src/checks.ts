// What the checks of a message say, in the order in which they are shown.
import type { Checks } from "./api/mails";

export type Warning = Checks["warnings"][number];

/** byScope parts the warnings of the whole message from those of single features, each in the order of the service. */
export function byScope(warnings: readonly Warning[]): { whole: Warning[]; features: Warning[] } {
  return {
    whole: warnings.filter(({ code }) => code !== "html_feature"),
    features: warnings.filter(({ code }) => code === "html_feature"),
  };
}

const platforms = / (Desktop Webmail|Mobile Webmail|Android|iOS|macOS|Windows Mail|Windows|Outlook\.com)$/;

/** clientsOf returns the mail clients that some of the warnings are about, each once, whatever it runs on. */
export const clientsOf = (warnings: readonly Warning[]) =>
  [...new Set(warnings.flatMap(({ clients = [] }) => clients.map((client) => client.replace(platforms, ""))))].sort((a, b) => a.localeCompare(b));

/** concerning returns the warnings about a mail client, each with what the client runs on where it fails; all of them where none is given. */
export function concerning(warnings: readonly Warning[], client: string): readonly Warning[] {
  if (!client) return warnings;
  const isOf = (name: string) => name.replace(platforms, "") === client;
  return warnings
    .filter(({ clients = [], detail }) => clients.some(isOf) || ` ${detail}`.includes(` ${client} `)) // the detail names those that fail in part
    .map((warning) => ({ ...warning, clients: (warning.clients ?? []).filter(isOf) }));
}

/** featurePage is the address of what caniemail.com knows of a feature; "" for one that it does not have. */
export const featurePage = (feature: string | undefined) =>
  feature && /^[a-z0-9][a-z0-9-]*$/.test(feature) ? `https://www.caniemail.com/features/${feature}/` : "";
