import{E as e,H as t,I as n,J as r,K as i,M as a,N as o,O as s,Q as c,T as l,U as u,V as d,W as f,X as p,Z as m,q as h,s as g,y as _,z as v}from"./disclose-version-BoTlXKjw.js";import{i as y,l as b,r as x,x as S}from"./app-BL5Oq1yO.js";function C(e,t,n){let r=`${e}/api/v1/mailboxes/me/otp/latest?wait=60`;return[{name:`curl`,code:`# Waits up to 60 s for a code that is sent to ${t}
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
});`}]}var w=s(`<button class="-mb-px" role="tab"> </button>`),T=s(`<p class="mb-3 text-muted"> </p> <div class="tab-bar mb-3 flex flex-wrap border-b border-base-300" role="tablist"></div> <pre class="card-plain mb-3 p-4 font-mono text-sm wrap-anywhere whitespace-pre-wrap" tabindex="0"> </pre> <div class="flex justify-end"><!></div>`,1);function E(a,s){m(s,!0);let E=r(()=>b.t),D=r(()=>C(location.origin,s.box.address,s.box.token)),O=h(`curl`),k=r(()=>n(D).find(e=>e.name===n(O))??n(D)[0]);x(a,{get title(){return n(E).useInCode},wide:!0,close:()=>S.dialog=``,children:(r,a)=>{var s=T(),p=t(s),m=u(p,!0),h=f(p,2);_(h,21,()=>n(D),({name:e})=>e,(t,r)=>{let a=()=>n(r).name;var s=w(),c=u(s,!0);v(()=>{g(s,`aria-selected`,a()===n(O)),l(c,a())}),o(`click`,s,()=>i(O,a(),!0)),e(t,s)}),c(h);var b=f(h,2),x=u(b,!0),S=f(b,2),C=d(S);y(C,{class:`btn-primary`,get value(){return n(k).code},get label(){return n(E).copy},get said(){return n(E).copied},icon:!0}),c(S),v(()=>{l(m,n(E).useInCodeHint),g(h,`aria-label`,n(E).useInCode),g(b,`aria-label`,n(O)),l(x,n(k).code)}),e(r,s)},$$slots:{default:!0}}),p()}a([`click`]);export{E as default};