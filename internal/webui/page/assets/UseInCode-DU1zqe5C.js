import{$ as e,At as t,Ct as n,Dt as r,Et as i,St as a,Tt as o,V as s,at as c,bt as l,ct as u,ft as d,h as f,ht as p,j as m,jt as h,kt as g,l as _,ot as v,pt as y,u as b,vt as x,xt as S}from"./visitor-CjuFmiPJ.js";function C(e,t,n){let r=`${e}/api/v1/mailboxes/me/otp/latest?wait=60`;return[{name:`curl`,code:`# Waits up to 60 s for a code that is sent to ${t}
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
});`}]}var w=u(`<button class="-mb-px" role="tab"> </button>`),T=u(`<p class="mb-3 text-muted"> </p> <div class="tab-bar mb-3 flex flex-wrap border-b border-base-300" role="tablist"></div> <pre class="card-plain mb-3 p-4 font-mono text-sm wrap-anywhere whitespace-pre-wrap" tabindex="0"> </pre> <div class="flex justify-end"><!></div>`,1);function E(u,d){t(d,!0);let E=r(()=>f.t),D=r(()=>C(location.origin,d.box.address,d.box.token)),O=i(`curl`),k=r(()=>p(D).find(e=>e.name===p(O))??p(D)[0]);_(u,{get title(){return p(E).useInCode},wide:!0,close:()=>m.dialog=``,children:(t,r)=>{var i=T(),u=S(i),d=a(u,!0),f=n(u,2);e(f,21,()=>p(D),({name:e})=>e,(e,t)=>{let n=()=>p(t).name;var r=w(),i=a(r,!0);x(()=>{s(r,`aria-selected`,n()===p(O)),c(i,n())}),y(`click`,r,()=>o(O,n(),!0)),v(e,r)}),h(f);var m=n(f,2),g=a(m,!0),_=n(m,2),C=l(_);b(C,{class:`btn-primary`,get value(){return p(k).code},get label(){return p(E).copy},get said(){return p(E).copied},icon:!0}),h(_),x(()=>{c(d,p(E).useInCodeHint),s(f,`aria-label`,p(E).useInCode),s(m,`aria-label`,p(O)),c(g,p(k).code)}),v(t,i)},$$slots:{default:!0}}),g()}d([`click`]);export{E as default};