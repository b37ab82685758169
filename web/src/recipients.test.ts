import { expect, test } from "vitest";
import { recipientOf } from "./recipients";

const to = (...addresses: string[]) => addresses.map((address) => ({ name: "", address }));

test.each([
  ["a mailbox", { project: null, address: "ada@box.example", to: to("list@elsewhere.example", "bob@box.example") }, { address: "ada@box.example", others: 0 }],
  ["a project", { project: "auth", address: "auth@projects.invalid", to: to("ada@example.com") }, { address: "ada@example.com", others: 0 }],
  ["a project, to several", { project: "auth", address: "auth@projects.invalid", to: to("ada@example.com", "bob@example.com", "eve@example.com") }, { address: "ada@example.com", others: 2 }],
  ["a project, without To", { project: "auth", address: "auth@projects.invalid", to: [] }, { address: "auth@projects.invalid", others: 0 }],
])("the recipient of a message in %s", (_, mail, want) => {
  expect(recipientOf(mail)).toEqual(want);
});
