import{H as e,J as t,S as n,Y as r,Z as i,a,bt as o,dt as s,ft as c,gt as l,ht as u,i as d,it as f,j as p,lt as m,mt as h,nt as g,st as _,tt as v,u as y,ut as b,vt as x,yt as S}from"./visitor-BpnFv4J5.js";function C(e,t,n){let r=`${e}/api/v1/mailboxes/me/otp/latest?wait=60`;return[{name:`curl`,code:`# Waits up to 60 s for a code that is sent to ${t}
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
});`}]}var w=i(`<button class="-mb-px" role="tab"> </button>`),T=i(`<p class="mb-3 text-muted"> </p> <div class="tab-bar mb-3 flex flex-wrap border-b border-base-300" role="tablist"></div> <pre class="card-plain mb-3 p-4 font-mono text-sm wrap-anywhere whitespace-pre-wrap" tabindex="0"> </pre> <div class="flex justify-end"><!></div>`,1);function E(i,v){S(v,!0);let E=l(()=>y.t),D=l(()=>C(location.origin,v.box.address,v.box.token)),O=u(`curl`),k=l(()=>f(D).find(e=>e.name===f(O))??f(D)[0]);d(i,{get title(){return f(E).useInCode},wide:!0,close:()=>n.dialog=``,children:(n,i)=>{var l=T(),u=b(l),d=s(u,!0),v=c(u,2);e(v,21,()=>f(D),({name:e})=>e,(e,n)=>{let i=()=>f(n).name;var a=w(),o=s(a,!0);_(()=>{p(a,`aria-selected`,i()===f(O)),t(o,i())}),g(`click`,a,()=>h(O,i(),!0)),r(e,a)}),o(v);var y=c(v,2),x=s(y,!0),S=c(y,2),C=m(S);a(C,{class:`btn-primary`,get value(){return f(k).code},get label(){return f(E).copy},get said(){return f(E).copied},icon:!0}),o(S),_(()=>{t(d,f(E).useInCodeHint),p(v,`aria-label`,f(E).useInCode),p(y,`aria-label`,f(O)),t(x,f(k).code)}),r(n,l)},$$slots:{default:!0}}),x()}v([`click`]);export{E as default};