import "gonebox/cypress"; // in cypress/support/e2e.ts

it("signs up", () => {
  cy.mailbox({ ttl: 600_000 }).then((mailbox) => {
    cy.get("#email").type(mailbox.address);
    cy.waitForCode({ from: "shop@", timeout: 60_000 }).then((code) => cy.get("#code").type(code));
    cy.wrap(mailbox).waitForLink({ subject: "Welcome" }).then((link: string) => cy.visit(link));
    // @ts-expect-error: a code is a text
    cy.waitForCode().then((code: number) => code);
  });
});
