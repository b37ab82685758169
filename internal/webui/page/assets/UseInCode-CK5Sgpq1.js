import{$t as e,At as t,J as n,Jt as r,Lt as i,Nt as a,Qt as o,Rt as s,Vt as c,Wt as l,Xt as u,Yt as d,_ as f,an as p,dt as m,en as h,jt as g,l as _,nn as v,qt as y,rn as b,rt as x,u as S,wt as C}from"./visitor-o62bT2hV.js";function w(e,t,n){let r=`${e}/api/v1/mailboxes/me/otp/latest?wait=60`;return[{name:`curl`,code:`# Waits up to 60 s for a code that is sent to ${t}
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
});`}]}var T=a(`<button class="-mb-px" role="tab"> </button>`),E=a(`<p class="mb-3 text-muted"> </p> <div class="tab-bar mb-3 flex flex-wrap border-b border-base-300" role="tablist"></div> <pre class="card-plain mb-3 p-4 font-mono text-sm wrap-anywhere whitespace-pre-wrap" tabindex="0"> </pre> <div class="flex justify-end"><!></div>`,1);function D(i,a){b(a,!0);let D=h(()=>f.t),O=h(()=>w(location.origin+x(``),a.box.address,a.box.token)),k=e(`curl`),A=h(()=>c(O).find(e=>e.name===c(k))??c(O)[0]);_(i,{get title(){return c(D).useInCode},wide:!0,close:()=>n.dialog=``,children:(e,n)=>{var i=E(),a=r(i),f=d(a,!0),h=u(a,2);C(h,21,()=>c(O),({name:e})=>e,(e,n)=>{let r=()=>c(n).name;var i=T(),a=d(i,!0);l(()=>{m(i,`aria-selected`,r()===c(k)),t(a,r())}),s(`click`,i,()=>o(k,r(),!0)),g(e,i)}),p(h);var _=u(h,2),v=d(_,!0),b=u(_,2),x=y(b);S(x,{class:`btn-primary`,get value(){return c(A).code},get label(){return c(D).copy},get said(){return c(D).copied},icon:!0}),p(b),l(()=>{t(f,c(D).useInCodeHint),m(h,`aria-label`,c(D).useInCode),m(_,`aria-label`,c(k)),t(v,c(A).code)}),g(e,i)},$$slots:{default:!0}}),v()}i([`click`]);export{D as default};