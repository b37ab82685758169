package otp_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/gonebox/gonebox/internal/otp"
)

func FuzzExtract(f *testing.F) {
	f.Add("Your code", "Your verification code is 482913.", "")
	f.Add("", "", "<p>Code</p><table><tr><td>4<td>8<td>2<td>9<td>1<td>3</table>")
	f.Add("رمز", "رمز التحقق ٤٨٢٩١٣", "<div style=display:none>9</div>")
	f.Add("", "@a.example #482913", "<a href='https://a/verify'>verify</a>&#49;&amp;")
	f.Add("", "", "<a href='https://a/verify'><img src=x></a>") // a link and no line
	f.Add("", "", "<p>Code<b>4829</b><i>Copy</i><sup>1</sup><a href='https://a/'></a><button style='margin:0 4px'>x")
	f.Add("Code no. 1", "Code no. 1 482913 (expired), code #2: {{code}} OPS-1183\n> 703-914\n|-|-|", "")
	f.Add("", "YOUR ONE-TIME PASSCODE: 482913 \"X\"", "") // a word of the phrase is a candidate itself
	for _, unit := range hostile {
		s := strings.Repeat(unit, 200)
		f.Add(unit, s, s)
	}
	f.Fuzz(func(t *testing.T, subject, text, html string) {
		m := otp.Mail{Subject: subject, Text: text, HTML: html}
		e := otp.Explain(m)
		if r := otp.Extract(m); r.Code != e.Result.Code {
			t.Fatalf("Extract finds %q, want %q as Explain says", r.Code, e.Result.Code)
		}
		check(t, e)
	})
}

// check holds what is true of every answer.
func check(t *testing.T, e otp.Explanation) {
	t.Helper()
	r := e.Result
	if len(r.Links) > 5 {
		t.Errorf("%d links, want at most 5", len(r.Links))
	}
	if (r.Code == "") != (r.Confidence == 0) || (r.Code == "") != (r.Kind == "") || r.Confidence < 0 || r.Confidence > 1 {
		t.Errorf("the result is %+v, want a code, a kind and a confidence up to 1, or none of them", r)
	}
	if r.Code == "" {
		return
	}
	if r.Kind == otp.Phrase {
		if r.Code != r.Display || strings.IndexFunc(r.Code, func(c rune) bool { return !unicode.IsLetter(c) && c != '-' && c != ' ' }) >= 0 {
			t.Errorf("the phrase is %q and displayed as %q, want the same of letters, hyphens and spaces", r.Code, r.Display)
		}
		return
	}
	letters := strings.IndexFunc(r.Code, func(c rune) bool { return c < '0' || c > '9' }) >= 0
	if letters != (r.Kind == otp.Alphanumeric) {
		t.Errorf("the code %q has the kind %s, want alphanumeric if and only if it has letters", r.Code, r.Kind)
	}
	for _, c := range r.Code {
		if c >= utf8.RuneSelf || !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '-' {
			t.Errorf("the code %q has %q, want only ASCII letters, digits and hyphens", r.Code, c)
		}
	}
	if n := len(strings.ReplaceAll(r.Code, "-", "")); n < 4 || n > 12 {
		t.Errorf("the code %q has %d characters, want 4 to 12", r.Code, n)
	}
	chosen := 0
	for _, c := range e.Candidates {
		if c.Chosen {
			chosen++
			if c.Value != r.Code || c.Display != r.Display {
				t.Errorf("chose %+v, answered %+v, want Value %v and Display %v", c, r, r.Code, r.Display)
			}
		}
	}
	if chosen != 1 {
		t.Errorf("%d candidates chosen, want 1", chosen)
	}
}

func FuzzRule(f *testing.F) {
	f.Add("", "", `code (\d+)`, "a@b", "code 1234", "text")
	f.Add("(", "", `x`, "", "", "")
	f.Add("", "[", `(?P<code>a{1000}){1000}`, "", "", "")
	f.Add("", "", `((((a{9}){9}){9}){9})`, "", "", strings.Repeat("a", 100))
	f.Fuzz(func(t *testing.T, from, subject, extract, a, b, c string) {
		r, err := otp.CompileRule(from, subject, extract)
		if err != nil {
			return
		}
		code, step := r.Apply(a, b, c)
		if (code != "") != (step == otp.StepMatched) || utf8.RuneCountInString(code) > 64 {
			t.Errorf("Apply = %q at the step %s, want a code of at most 64 characters if and only if it matched", code, step)
		}
	})
}
