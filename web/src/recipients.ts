// Whom a message was sent to, as a list shows it.
import type { Mail } from "./api/mails";

/**
 * recipientOf returns whom a message was sent to, and how many others. No sender writes to the address of a project's mailbox, so the
 * message's own recipients stand for it.
 */
export function recipientOf(mail: Pick<Mail, "address" | "project" | "to">): { address: string; others: number } {
  const [first, ...others] = mail.project ? mail.to : [];
  return first ? { address: first.address, others: others.length } : { address: mail.address, others: 0 };
}
