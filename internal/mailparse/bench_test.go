package mailparse_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/mailparse"
)

// benchHeader is what a mail carries when it comes from a large sender.
const benchHeader = "Return-Path: <bounce-4711@mail.example.com>\r\n" +
	"Received: from out7.mail.example.com (out7.mail.example.com [192.0.2.17])\r\n" +
	"\tby mx.example.net with ESMTPS id 4XyZabc123\r\n" +
	"\tfor <quiet-otter-4821@example.net>; Tue, 04 Mar 2025 09:15:02 +0000 (UTC)\r\n" +
	"DKIM-Signature: v=1; a=rsa-sha256; c=relaxed/relaxed; d=example.com; s=k1;\r\n" +
	"\th=From:To:Subject:Date:Message-ID:MIME-Version:Content-Type;\r\n" +
	"\tbh=47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=;\r\n" +
	"\tb=QWxsIHlvdXIgYmFzZSBhcmUgYmVsb25nIHRvIHVzIGFuZCB0aGVuIHNvbWUgbW9yZSB0ZXh0\r\n" +
	"\tQWxsIHlvdXIgYmFzZSBhcmUgYmVsb25nIHRvIHVzIGFuZCB0aGVuIHNvbWUgbW9yZSB0ZXh0=\r\n" +
	"Date: Tue, 04 Mar 2025 09:15:01 +0000\r\n" +
	"From: \"Example Accounts\" <no-reply@example.com>\r\n" +
	"Reply-To: Example Support <support@example.com>\r\n" +
	"To: quiet-otter-4821@example.net\r\n" +
	"Message-ID: <20250304091501.4711.abc@mail.example.com>\r\n" +
	"Subject: Your sign-in code is 482913\r\n" +
	"List-Unsubscribe: <https://example.com/u/4711>, <mailto:u@example.com>\r\n" +
	"X-Mailer: Example Mailer 3.1\r\n" +
	"MIME-Version: 1.0\r\n"

func plain4K() []byte {
	var b bytes.Buffer
	b.WriteString(benchHeader + "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 7bit\r\n\r\n")
	for b.Len() < 4<<10 {
		b.WriteString("Your sign-in code is 482913. It is valid for ten minutes; do not share it.\r\n")
	}
	return b.Bytes()[:4<<10]
}

// wrapped is base64 in lines of 76 characters.
func wrapped(data []byte) string {
	var b strings.Builder
	for s := base64.StdEncoding.EncodeToString(data); len(s) > 0; {
		n := min(76, len(s))
		b.WriteString(s[:n] + "\r\n")
		s = s[n:]
	}
	return b.String()
}

func attachment64K() []byte {
	return fmt.Appendf(nil, "%sContent-Type: multipart/mixed; boundary=\"=_outer\"\r\n\r\n"+
		"--=_outer\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nSee the file.\r\n"+
		"--=_outer\r\nContent-Type: application/pdf; name=report.pdf\r\nContent-Disposition: attachment; filename=report.pdf\r\n"+
		"Content-Transfer-Encoding: base64\r\n\r\n%s--=_outer--\r\n", benchHeader, wrapped(bytes.Repeat([]byte("\x00PDF\xff\x17"), 8000)))
}

func html100K() []byte {
	var b bytes.Buffer
	b.WriteString(benchHeader + "Content-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n")
	for b.Len() < 100<<10 {
		b.WriteString("<p style=3D\"color:#333\">Your code is <b>482913</b>, valid for ten minutes =\r\nand not longer. Caf=C3=A9.</p>\r\n")
	}
	return b.Bytes()
}

func BenchmarkParse(b *testing.B) {
	for _, c := range []struct {
		name string
		raw  []byte
	}{
		{"text4KiB", plain4K()},
		{"attachment64KiB", attachment64K()},
		{"html100KiB", html100K()},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.raw)))
			b.ReportAllocs()
			for b.Loop() {
				mailparse.Parse(c.raw)
			}
		})
	}
}
