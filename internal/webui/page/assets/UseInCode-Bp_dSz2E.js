import{Ct as e,Dt as t,Et as n,Ot as r,St as i,X as a,_t as o,at as s,bt as c,c as l,ft as u,ht as d,k as f,l as p,lt as m,m as h,nt as g,rt as _,ut as v,vt as y,wt as b,yt as x,z as S}from"./visitor-CMePBRh6.js";function C(e,t,n){let r=`${e}/api/v1/mailboxes/me/otp/latest?wait=60`;return[{name:`curl`,code:`# Waits up to 60 s for a code that is sent to ${t}
curl -fsS -H 'Authorization: Bearer ${n}' '${r}'`},{name:`TypeScript`,code:`// Waits up to 60 s for a code that is sent to ${t}
const answer = await fetch("${r}", {
  headers: { Authorization: "Bearer ${n}" },
});
if (!answer.ok) throw new Error(\`no code: \${answer.status}\`);
const { data } = await answer.json();
console.log(data.code);`},{name:`Python`,code:`# Waits up to 60 s for a code that is sent to ${t}
import json
import urllib.request

request = urllib.request.Request(
    "${r}",
    headers={"Authorization": "Bearer ${n}"},
)
with urllib.request.urlopen(request, timeout=70) as answer:
    print(json.load(answer)["data"]["code"])`},{name:`Go`,code:`// Waits up to 60 s for a code that is sent to ${t}
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
)

func main() {
	req, err := http.NewRequest("GET", "${r}", nil)
	if err != nil {
		log.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer ${n}")
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
}`},{name:`Playwright`,code:`import { expect, test } from "@playwright/test";

test("sign up with a code", async ({ page, request }) => {
  // A mailbox for this run alone.
  const made = await request.post("${e}/api/v1/mailboxes");
  const { address, token } = (await made.json()).data;

  await page.goto("https://app.example.com/sign-up"); // the page under test
  await page.getByLabel("E-mail").fill(address);
  await page.getByRole("button", { name: "Sign up" }).click();

  const answer = await request.get("${e}/api/v1/mailboxes/me/otp/latest?wait=60", {
    headers: { Authorization: \`Bearer \${token}\` },
    timeout: 70_000,
  });
  expect(answer.ok()).toBeTruthy();
  await page.getByLabel("Code").fill((await answer.json()).data.code);
});`}]}var w=s(`<button class="-mb-px" role="tab"> </button>`),T=s(`<p class="mb-3 text-muted"> </p> <div class="tab-bar mb-3 flex flex-wrap border-b border-base-300" role="tablist"></div> <pre class="card-plain mb-3 p-4 font-mono text-sm wrap-anywhere whitespace-pre-wrap" tabindex="0"> </pre> <div class="flex justify-end"><!></div>`,1);function E(s,m){t(m,!0);let E=b(()=>h.t),D=b(()=>C(location.origin,m.box.address,m.box.token)),O=e(`curl`),k=b(()=>u(D).find(e=>e.name===u(O))??u(D)[0]);l(s,{get title(){return u(E).useInCode},wide:!0,close:()=>f.dialog=``,children:(e,t)=>{var n=T(),s=y(n),l=x(s,!0),f=c(s,2);a(f,21,()=>u(D),({name:e})=>e,(e,t)=>{let n=()=>u(t).name;var r=w(),a=x(r,!0);d(()=>{S(r,`aria-selected`,n()===u(O)),g(a,n())}),v(`click`,r,()=>i(O,n(),!0)),_(e,r)}),r(f);var m=c(f,2),h=x(m,!0),b=c(m,2),C=o(b);p(C,{class:`btn-primary`,get value(){return u(k).code},get label(){return u(E).copy},get said(){return u(E).copied},icon:!0}),r(b),d(()=>{g(l,u(E).useInCodeHint),S(f,`aria-label`,u(E).useInCode),S(m,`aria-label`,u(O)),g(h,u(k).code)}),_(e,n)},$$slots:{default:!0}}),n()}m([`click`]);export{E as default};