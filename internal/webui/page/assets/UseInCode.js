import{C as e,S as t,_ as n,a as r,b as i,c as a,d as o,f as s,g as c,h as l,i as u,l as d,m as f,n as p,o as m,p as h,r as g,s as _,t as v,v as y,w as b,x,y as S}from"./app.js";function C(e,t,n){let r=`${e}/api/v1/mailboxes/me/otp/latest?wait=60`;return[{name:`curl`,code:`# Waits up to 60 s for a code that is sent to ${t}
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
});`}]}var w=d(`<button class="-mb-px" role="tab"> </button>`),T=d(`<p class="mb-3 text-muted"> </p> <div class="tab-bar mb-3 flex flex-wrap border-b border-base-300" role="tablist"></div> <pre class="card-plain mb-3 p-4 font-mono text-sm wrap-anywhere whitespace-pre-wrap" tabindex="0"> </pre> <div class="flex justify-end"><!></div>`,1);function E(o,d){e(d,!0);let E=x(()=>g.t),D=x(()=>C(location.origin,d.box.address,d.box.token)),O=i(`curl`),k=x(()=>h(D).find(e=>e.name===h(O))??h(D)[0]);v(o,{get title(){return h(E).useInCode},wide:!0,close:()=>u.dialog=``,children:(e,t)=>{var i=T(),o=c(i),u=n(o,!0),d=y(o,2);m(d,21,()=>h(D),({name:e})=>e,(e,t)=>{let i=()=>h(t).name;var o=w(),c=n(o,!0);f(()=>{r(o,`aria-selected`,i()===h(O)),_(c,i())}),s(`click`,o,()=>S(O,i(),!0)),a(e,o)}),b(d);var g=y(d,2),v=n(g,!0),x=y(g,2),C=l(x);p(C,{class:`btn-primary`,get value(){return h(k).code},get label(){return h(E).copy},get said(){return h(E).copied},icon:!0}),b(x),f(()=>{_(u,h(E).useInCodeHint),r(d,`aria-label`,h(E).useInCode),r(g,`aria-label`,h(O)),_(v,h(k).code)}),a(e,i)},$$slots:{default:!0}}),t()}o([`click`]);export{E as default};