// Programs that wait for the code of a mailbox, ready to run: plain calls of the API, with the token filled in.

export type Snippet = { name: string; code: string };

/** snippetsFor writes the programs for one mailbox of the service at origin. */
export function snippetsFor(origin: string, address: string, token: string): Snippet[] {
  const url = `${origin}/api/v1/mailboxes/me/otp/latest?wait=60`;
  return [
    {
      name: "curl",
      code: `# Waits up to 60 s for a code that is sent to ${address}
curl -fsS -H 'Authorization: Bearer ${token}' '${url}'`,
    },
    {
      name: "TypeScript",
      code: `// Waits up to 60 s for a code that is sent to ${address}
const answer = await fetch("${url}", {
  headers: { Authorization: "Bearer ${token}" },
});
if (!answer.ok) throw new Error(\`no code: \${answer.status}\`);
const { data } = await answer.json();
console.log(data.code);`,
    },
    {
      name: "Python",
      code: `# Waits up to 60 s for a code that is sent to ${address}
import json
import urllib.request

request = urllib.request.Request(
    "${url}",
    headers={"Authorization": "Bearer ${token}"},
)
with urllib.request.urlopen(request, timeout=70) as answer:
    print(json.load(answer)["data"]["code"])`,
    },
    {
      name: "Go",
      code: `// Waits up to 60 s for a code that is sent to ${address}
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
)

func main() {
	req, err := http.NewRequest("GET", "${url}", nil)
	if err != nil {
		log.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer ${token}")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		log.Fatal(resp.Status)
	}
	var answer struct{ Data struct{ Code string } }
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.Data.Code)
}`,
    },
    {
      name: "Playwright",
      code: `import { expect, test } from "@playwright/test";

test("sign up with a code", async ({ page, request }) => {
  // A mailbox for this run alone.
  const made = await request.post("${origin}/api/v1/mailboxes");
  const { address, token } = (await made.json()).data;

  await page.goto("https://app.example.com/sign-up"); // the page under test
  await page.getByLabel("E-mail").fill(address);
  await page.getByRole("button", { name: "Sign up" }).click();

  const answer = await request.get("${origin}/api/v1/mailboxes/me/otp/latest?wait=60", {
    headers: { Authorization: \`Bearer \${token}\` },
    timeout: 70_000,
  });
  expect(answer.ok()).toBeTruthy();
  await page.getByLabel("Code").fill((await answer.json()).data.code);
});`,
    },
  ];
}
