package mailparse_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gonebox/gonebox/internal/mailparse"
)

func TestHeaderFields(t *testing.T) {
	m := mailparse.Parse([]byte("Received: from a\r\n\tby b;\r\n  now\r\nX-Empty:\r\nX-Odd \t: \t value \t\r\n" +
		"no colon here\r\nX-Word: =?utf-8?q?=C3=A9?=\r\nSubject: one\r\nsubject: two\r\n\r\nbody"))
	want := []mailparse.Field{
		{Name: "Received", Value: "from a by b; now"},
		{Name: "X-Empty", Value: ""},
		{Name: "X-Odd", Value: "value"},
		{Name: "X-Word", Value: "é"},
		{Name: "Subject", Value: "one"},
		{Name: "subject", Value: "two"},
	}
	if diff := cmp.Diff(want, m.Header); diff != "" {
		t.Errorf("m.Header (-want +got):\n%s", diff)
	}
	if got := m.Value("SUBJECT"); got != "one" {
		t.Errorf("Value gives %q, want the first", got)
	}
	if got := m.Value("X-None"); got != "" {
		t.Errorf(`Value("X-None") = %q, want "" as for an absent field`, got)
	}
}

func TestHeaderEnd(t *testing.T) {
	for _, c := range []struct{ name, raw, subject, text string }{
		{"blank line", "Subject: s\r\n\r\nt", "s", "t"},
		{"LF", "Subject: s\n\nt\n", "s", "t\n"},
		{"CR", "Subject: s\r\rt\r", "s", "t\n"},
		{"CR CR LF", "Subject: s\r\r\n\r\r\nt\r\r\n", "s", "t\n"},
		{"byte order mark", "\uFEFFSubject: s\n\nt", "s", "t"},
		{"no header", "just text\nand more", "", "just text\nand more"},
		{"no header, a blank line first", "\ntext: not a field\n", "", "text: not a field\n"},
		{"a link ends it", "Subject: s\nhttps://example.com/verify\n", "s", "https://example.com/verify\n"},
		{"text ends it", "Subject: s\nYour code: 1\nTo you", "s", "Your code: 1\nTo you"},
		{"a stray line", "stray\nSubject: s\n\nt", "s", "t"},
		{"two stray lines", "stray\nstray\nSubject: s\n\nt", "s", "t"},
		{"a stray line with a fold", "Subject: s\nstray\n\tfold\nTo: a@b\n\nt", "s", "t"},
		{"stray lines and folds", "To: a@b\nstray\n fold\nstray\nhttps://example.com\n fold\nSubject: s\n\nt", "s", "t"},
		{"stray lines between unknown fields", "stray\n fold\nFoo: a\nstray\n fold\nBar: b\nstray\nSubject: s\n\nt", "s", "t"},
		{"a fold of a stray line is in no field", "Subject: s\nstray\n =?utf-8?q?no?=\nTo: a@b\n\nt", "s", "t"},
		{"a stray line at the end", "Subject: s\nTo: a@b\nstray\n\nt", "s", "stray\n\nt"},
		{"a stray line before an unknown field", "Subject: s\nstray\n fold\nFoo: a\n\nt", "s", "stray\n fold\nFoo: a\n\nt"},
		{"a field behind the blank line", "Subject: s\nstray\nstray\n\nTo: a@b\n", "s", "stray\nstray\n\nTo: a@b\n"},
		{"a field in a fold", "Subject: s\nstray\nstray\n To: a@b\n\nt", "s", "stray\nstray\n To: a@b\n\nt"},
		{"no blank line, stray lines", "Subject: s\nstray\nstray\nTo: a@b\n", "s", "stray\nstray\nTo: a@b\n"},
		{"no blank line, one stray line", "To: a@b\nstray\nSubject: s\nt", "s", "t"},
		{"mbox", ">From a@b Mon Mar 3\nSubject: s\n\nt", "s", "t"},
		{"fold without a field", " fold\nSubject: s\n\nt", "s", "t"},
		{"blank fold", "Subject: s\n \n\nt", "s", "t"},
		{"nothing", "", "", ""},
		{"nothing but blank lines", "\r\n\r\n", "", "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := mailparse.Parse([]byte(c.raw))
			if m.Subject != c.subject || m.Text != c.text {
				t.Errorf("subject %q, text %q, want Subject %v and Text %v", m.Subject, m.Text, c.subject, c.text)
			}
		})
	}
}

// TestStrayLinesInParts holds that a stray line does not end the header of a body part either, and that text at the
// beginning of a part that has no header is not taken for one.
func TestStrayLinesInParts(t *testing.T) {
	for _, c := range []struct{ name, part, text, data string }{
		{"a stray line with a fold", "Content-Type: text/plain\nstray\n fold\nContent-Transfer-Encoding: base64\n\naGk=", "hi", ""},
		{"two stray lines", "stray\nstray\nContent-Transfer-Encoding: base64\n\naGk=", "hi", ""},
		{"stray lines before an X- field", "Content-Transfer-Encoding: base64\nstray\nstray\nX-A: b\n\naGk=", "hi", ""},
		{"an attachment", "Content-Type: application/x-data\nboundary\n\t=\"x\"\nstray\nContent-Transfer-Encoding: base64\n\naGk=", "", "hi"},
		{"a blank line first", "\nContent-Transfer-Encoding: base64\n\naGk=", "hi", ""},
		{"no header", "\nFrom: Ann\n\nhi", "From: Ann\n\nhi", ""},
		{"no header and no blank line", "Ann wrote:\nhello\nSubject: hi\n\nhi", "Ann wrote:\nhello\nSubject: hi\n\nhi", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := mailparse.Parse([]byte("Content-Type: multipart/mixed; boundary=b\n\n--b\n" + c.part + "\n--b--\n"))
			var data string
			for _, a := range m.Attachments {
				data += string(a.Data)
			}
			if m.Text != c.text || data != c.data {
				t.Errorf("text %q, attachment %q, want Text %v and %v", m.Text, data, c.text, c.data)
			}
		})
	}
}

func TestEncodedWords(t *testing.T) {
	for in, want := range map[string]string{
		"=?utf-8?q?a_b=5f?=":                              "a b_",
		"=?UTF-8?B?w6k=?=":                                "é",
		"=?utf-8?b?w6?= =?utf-8?b?k=?=":                   "é",
		"=?utf-8?b?w6k?=":                                 "é",
		"=?utf-8?q?=C3?= =?utf-8?q?=A9?=":                 "é",
		"=?utf-8?q?a?= =?utf-8?q?b?= c =?utf-8?q?d?=":     "ab c d",
		"=?utf-8?q?a?==?utf-8?q?b?=":                      "ab",
		"x=?utf-8?q?a?=y":                                 "xay",
		"=?utf-8?q?what??=":                               "what?",
		"=?utf-8?q?=E?= =?utf-8?q?=?=":                    "=E=",
		"=?utf-8?z?a?= =?broken":                          "=?utf-8?z?a?= =?broken",
		"=?iso-8859-1?q?=E9?= =?utf-8?q?=C3=A9?=":         "éé",
		"=?nonsense?q?=C3=A9=E9x?=":                       "Ã©éx",
		"=?utf-8*en-GB?q?a?=":                             "a",
		"=??q?a?=":                                        "a",
		"=?utf-8?q?a=00b=07?=":                            "a\uFFFDb\uFFFD",
		"=?utf-8?b?" + strings.Repeat("YWJj", 500) + "?=": strings.Repeat("abc", 500),
		"raw é and =?utf-8?q?=C3=A9?=":                    "raw é and é",
		"raw \xe9":                                        "raw é",
	} {
		if got := mailparse.Parse([]byte("Subject: " + in + "\r\n\r\n")).Subject; got != want {
			t.Errorf("the subject %q is read as %q, want %q", in, got, want)
		}
	}
}

func TestAddresses(t *testing.T) {
	type list = []mailparse.Address
	for in, want := range map[string]list{
		"a@b.c":                            {{Addr: "a@b.c"}},
		"<a@b.c>":                          {{Addr: "a@b.c"}},
		"A B <a@b.c>":                      {{Name: "A B", Addr: "a@b.c"}},
		"\"B, A\" <a@b.c>, d@e.f":          {{Name: "B, A", Addr: "a@b.c"}, {Addr: "d@e.f"}},
		"B, A <a@b.c>, d@e.f":              {{Name: "B, A", Addr: "a@b.c"}, {Addr: "d@e.f"}},
		"a@b.c (A (x) B)":                  {{Name: "A x B", Addr: "a@b.c"}},
		"a@b.c; d@e.f":                     {{Addr: "a@b.c"}, {Addr: "d@e.f"}},
		"g: a@b.c, D <d@e.f>; x@y.z":       {{Addr: "a@b.c"}, {Name: "D", Addr: "d@e.f"}, {Addr: "x@y.z"}},
		"undisclosed-recipients:;":         nil,
		"":                                 nil,
		", ,":                              nil,
		"A a@b.c":                          {{Name: "A", Addr: "a@b.c"}},
		"a @ b.c":                          {{Addr: "a@b.c"}},
		"A <a@b.c, B <d@e.f>":              {{Name: "A", Addr: "a@b.c"}, {Name: "B", Addr: "d@e.f"}},
		"A <a@b.c":                         {{Name: "A", Addr: "a@b.c"}},
		"<@r,@s:a@b.c>":                    {{Addr: "a@b.c"}},
		"\"a b\"@c.d":                      {{Addr: "\"a b\"@c.d"}},
		"N <\"a>b\"@c.d>":                  {{Name: "N", Addr: "\"a>b\"@c.d"}},
		"a@[IPv6:2001:db8::1], x@y.z":      {{Addr: "a@[IPv6:2001:db8::1]"}, {Addr: "x@y.z"}},
		"[List] Name <a@b.c>":              {{Name: "[List] Name", Addr: "a@b.c"}},
		"MAILER-DAEMON":                    {{Name: "MAILER-DAEMON"}},
		"\"'a@b.c'\" <'a@b.c'>":            {{Name: "'a@b.c'", Addr: "a@b.c"}},
		"=?utf-8?q?=C3=A9?= <a@b.c>":       {{Name: "é", Addr: "a@b.c"}},
		"\"=?utf-8?q?=C3=A9?=\" <a@b.c>":   {{Name: "é", Addr: "a@b.c"}},
		"=?utf-8?q?a,_b?= <a@b.c>, d@e.f":  {{Name: "a, b", Addr: "a@b.c"}, {Addr: "d@e.f"}},
		"=?utf-8?q?A_<a@b.c>?=":            {{Name: "A", Addr: "a@b.c"}},
		"\"A <a@b.c>":                      {{Name: "A", Addr: "a@b.c"}},
		"ü <ü@ü.example>":                  {{Name: "ü", Addr: "ü@ü.example"}},
		"A <nick> <a@b.c>":                 {{Name: "A <nick>", Addr: "a@b.c"}},
		"<mailto:a@b.c>":                   {{Addr: "a@b.c"}},
		"\"C:\\dir \\\"q\\\"\" <a@b.c>":    {{Name: "C:\\dir \"q\"", Addr: "a@b.c"}},
		"a@b.c,\r\n\td@e.f\r\n (D)":        {{Addr: "a@b.c"}, {Name: "D", Addr: "d@e.f"}},
		"(c) A <a(x)@(y)b.c> (d)":          {{Name: "A", Addr: "a@b.c"}},
		"R=?x D <a@b.c>, =?u?q?x <d@e.f>":  {{Name: "R=?x D", Addr: "a@b.c"}, {Name: "=?u?q?x", Addr: "d@e.f"}},
		"a@b.c d, E <e@f.g>, (only) , <>,": {{Addr: "a@b.c"}, {Name: "E", Addr: "e@f.g"}},
	} {
		if diff := cmp.Diff(want, mailparse.Parse([]byte("To: "+in+"\r\n\r\n")).To); diff != "" {
			t.Errorf("the recipients of To: %q (-want +got)\n%s", in, diff)
		}
	}
}

func TestDates(t *testing.T) {
	for in, want := range map[string]string{
		"Tue, 04 Mar 2025 09:15:01 +0100":          "2025-03-04T08:15:01Z",
		"4 Mar 2025 09:15 GMT":                     "2025-03-04T09:15:00Z",
		"4 Mar 25 09:15 -0000":                     "2025-03-04T09:15:00Z",
		"4 Mar 103 09:15:00":                       "2003-03-04T09:15:00Z",
		"Tue Mar  4 09:15:01 2025":                 "2025-03-04T09:15:01Z",
		"Tue Mar  4 09:15:01 EST 2025":             "2025-03-04T14:15:01Z",
		"Tue, 4 Mar 2025 09:15:01 +0100 (CET)":     "2025-03-04T08:15:01Z",
		"Tue, 4 Mar 2025 09:15:01+0100":            "2025-03-04T08:15:01Z",
		"Tue, 4 March 2025 9:15:01 PM":             "2025-03-04T21:15:01Z",
		"12:05 am 4 Mar 2025":                      "2025-03-04T00:05:00Z",
		"2025-03-04T09:15:01Z":                     "2025-03-04T09:15:01Z",
		"2025-03-04 09:15:01.250 +01:00":           "2025-03-04T08:15:01Z",
		"04-Mar-2025 09:15:01 GMT+0200":            "2025-03-04T07:15:01Z",
		"Sat, 31 Dec 2016 23:59:60 +0000":          "2016-12-31T23:59:59Z",
		"Tue, 4 Mar 2025":                          "2025-03-04T00:00:00Z",
		"Tue, 4 Mar 2025 09:15:01 +9999":           "2025-03-04T09:15:01Z",
		"31 Feb 2025 09:15:01 +0000":               "",
		"4 Mar 2025 25:15:01 +0000":                "",
		"":                                         "",
		"soon":                                     "",
		"99999999999999999999 Mar 2025 09:15":      "",
		"Tue, 4 Mar 2025 (((((((((( 09:15:01 -800": "2025-03-04T00:00:00Z",
	} {
		got := mailparse.Parse([]byte("Date: " + in + "\r\n\r\n")).Date
		s := ""
		if !got.IsZero() {
			s = got.Format("2006-01-02T15:04:05Z07:00")
		}
		if s != want {
			t.Errorf("the date %q is read as %q, want %q", in, s, want)
		}
	}
}
