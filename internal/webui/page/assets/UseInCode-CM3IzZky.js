import{Ct as e,Dt as t,Mt as n,N as r,Nt as i,Ot as a,St as o,Tt as s,U as c,_t as l,bt as u,ct as d,h as f,ht as p,jt as m,kt as h,l as g,mt as _,st as v,tt as y,u as b,ut as x,wt as S}from"./visitor-DaceHKE5.js";function C(e,t,n){let r=`${e}/api/v1/mailboxes/me/otp/latest?wait=60`;return[{name:`curl`,code:`# Waits up to 60 s for a code that is sent to ${t}
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
});`}]}var w=x(`<button class="-mb-px" role="tab"> </button>`),T=x(`<p class="mb-3 text-muted"> </p> <div class="tab-bar mb-3 flex flex-wrap border-b border-base-300" role="tablist"></div> <pre class="card-plain mb-3 p-4 font-mono text-sm wrap-anywhere whitespace-pre-wrap" tabindex="0"> </pre> <div class="flex justify-end"><!></div>`,1);function E(_,x){n(x,!0);let E=h(()=>f.t),D=h(()=>C(location.origin,x.box.address,x.box.token)),O=a(`curl`),k=h(()=>l(D).find(e=>e.name===l(O))??l(D)[0]);g(_,{get title(){return l(E).useInCode},wide:!0,close:()=>r.dialog=``,children:(n,r)=>{var a=T(),f=e(a),m=S(f,!0),h=s(f,2);y(h,21,()=>l(D),({name:e})=>e,(e,n)=>{let r=()=>l(n).name;var i=w(),a=S(i,!0);u(()=>{c(i,`aria-selected`,r()===l(O)),v(a,r())}),p(`click`,i,()=>t(O,r(),!0)),d(e,i)}),i(h);var g=s(h,2),_=S(g,!0),x=s(g,2),C=o(x);b(C,{class:`btn-primary`,get value(){return l(k).code},get label(){return l(E).copy},get said(){return l(E).copied},icon:!0}),i(x),u(()=>{v(m,l(E).useInCodeHint),c(h,`aria-label`,l(E).useInCode),c(g,`aria-label`,l(O)),v(_,l(k).code)}),d(n,a)},$$slots:{default:!0}}),m()}_([`click`]);export{E as default};