package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"mime/quotedprintable"
	"strings"
	"time"
)

// What is different in each mail has a fixed width, so that a sender changes it in place in a buffer of its own.
const (
	senderZone  = "bench.example."
	codeMark    = "493021"     // the code
	serialMark  = "0000000000" // in Message-ID
	addressMark = "box-0000000@gonebox.localhost"
)

// kind is a kind of mail: one of the sizes.
type kind struct {
	name  string
	size  int
	what  string
	forms []func(size int, sender int) []byte // they take turns
}

func small() kind {
	return kind{
		name: "4 KiB", size: 4 << 10, forms: []func(int, int) []byte{textMail, alternativeMail},
		what: "in turns text/plain, and multipart/alternative with text and quoted-printable HTML; a six-digit code in both",
	}
}

func large() kind {
	return kind{
		name: "64 KiB", size: 64 << 10, forms: []func(int, int) []byte{attachmentMail},
		what: "multipart/mixed: 3 KiB of text, some 25 KiB of quoted-printable HTML, the rest a base64 attachment; a six-digit code in text and HTML",
	}
}

// header is what a sender's mail server hands over. Neither address nor names are anybody's.
func header(sender int, contentType string) string {
	now := time.Now()
	host := fmt.Sprintf("shop%d.%s", sender%8, strings.TrimSuffix(senderZone, "."))
	return fmt.Sprintf("Received: from app-%02d.internal.%[2]s (app-%02[1]d.internal.%[2]s [10.20.30.%[1]d])\r\n"+
		"\tby out.mail.%[2]s (Mailer) with ESMTPS id 4WxYz%02[1]dQq9\r\n\tfor <%[3]s>; %[4]s\r\n"+
		"From: \"Shop %[1]d Accounts\" <no-reply@%[2]s>\r\nTo: <%[3]s>\r\nSubject: %[5]s is your Shop %[1]d sign-in code\r\n"+
		"Date: %[4]s\r\nMessage-ID: <%[6]s.%[1]d@out.mail.%[2]s>\r\nMIME-Version: 1.0\r\n"+
		"List-Unsubscribe: <https://%[2]s/preferences>\r\nX-Mailer: Mailer 4.2\r\nContent-Type: %[7]s\r\n",
		sender%32, host, addressMark, now.UTC().Format(time.RFC1123Z), codeMark, serialMark, contentType)
}

const notice = "Hello,\r\n\r\nyou asked to sign in to your account. Your sign-in code is:\r\n\r\n    " + codeMark +
	"\r\n\r\nIt is valid for 10 minutes. If this was not you, ignore this mail and nothing happens.\r\n\r\n"

func textMail(size, sender int) []byte {
	return filled(size, func(n int) string {
		return header(sender, "text/plain; charset=utf-8") + "Content-Transfer-Encoding: 7bit\r\n\r\n" + notice + prose(n, uint64(sender)) + "\r\n"
	})
}

func alternativeMail(size, sender int) []byte {
	page := quoted(htmlPage(sender, 3))
	return filled(size, func(n int) string {
		return header(sender, `multipart/alternative; boundary="b1_9f3c"`) + "\r\n" + bothTexts("b1_9f3c", notice+prose(n, uint64(sender)), page)
	})
}

func attachmentMail(size, sender int) []byte {
	texts := bothTexts("b2_71aa", notice+prose(3<<10-len(notice), uint64(sender)), quoted(htmlPage(sender, 75)))
	return filled(size, func(n int) string {
		return header(sender, `multipart/mixed; boundary="b1_9f3c"`) + "\r\n--b1_9f3c\r\nContent-Type: multipart/alternative; boundary=\"b2_71aa\"\r\n\r\n" +
			texts + "--b1_9f3c\r\nContent-Type: application/pdf; name=\"receipt.pdf\"\r\nContent-Disposition: attachment; filename=\"receipt.pdf\"\r\n" +
			"Content-Transfer-Encoding: base64\r\n\r\n" + encoded(n, uint64(sender)) + "\r\n--b1_9f3c--\r\n"
	})
}

func bothTexts(boundary, text, page string) string {
	return fmt.Sprintf("--%[1]s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: 7bit\r\n\r\n%[2]s\r\n"+
		"--%[1]s\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n%[3]s\r\n--%[1]s--\r\n", boundary, text, page)
}

// filled makes a mail of size octets, give or take a line: build's argument is how many octets it has to fill.
func filled(size int, build func(fill int) string) []byte {
	return []byte(build(max(0, size-len(build(0)))))
}

// htmlPage is a page as shops send it: tables, inline styles, links, an image from afar.
func htmlPage(sender, rows int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<!DOCTYPE html>\r\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Sign in</title>\r\n<style>.c { font-size: 28px; letter-spacing: 4px }</style></head>\r\n"+
		"<body style=\"margin:0;background:#f4f4f7\">\r\n<table role=\"presentation\" width=\"100%%\" cellpadding=\"0\" cellspacing=\"0\"><tr><td align=\"center\">\r\n"+
		"<img src=\"https://cdn.shop%d.bench.example/logo.png\" width=\"120\" height=\"40\" alt=\"Shop\">\r\n<p style=\"color:#333333\">Your sign-in code is</p>\r\n"+
		"<p class=\"c\" style=\"font-weight:bold\">\r\n"+codeMark+"\r\n</p>\r\n<p>It is valid for 10 minutes.</p>\r\n", sender%8)
	dice := rand.New(rand.NewPCG(uint64(sender), 1))
	for range rows {
		fmt.Fprintf(&b, "<table width=\"560\" style=\"border-collapse:collapse\"><tr><td style=\"padding:8px;color:#555555;font-family:Helvetica,Arial,sans-serif\">%s</td>\r\n"+
			"<td align=\"right\"><a href=\"https://shop%d.bench.example/item/%s?ref=mail\" style=\"color:#3869d4\">Look at it</a></td></tr></table>\r\n",
			sentence(dice), sender%8, word(dice))
	}
	b.WriteString("<p style=\"font-size:12px;color:#999999\"><a href=\"https://shop.bench.example/preferences\">Preferences</a></p>\r\n</td></tr></table></body></html>\r\n")
	return b.String()
}

func quoted(text string) string {
	var b bytes.Buffer
	w := quotedprintable.NewWriter(&b)
	_, _ = w.Write([]byte(text)) // a buffer takes everything
	_ = w.Close()
	return b.String()
}

func word(dice *rand.Rand) string {
	words := [...]string{
		"lamp", "quiet", "garden", "order", "window", "paper", "winter", "table", "gentle", "harbour", "river", "cotton", "bright",
		"parcel", "corner", "evening", "copper", "simple", "letter", "meadow", "travel", "basket", "mirror", "autumn", "kettle",
	}
	return words[dice.IntN(len(words))]
}

func sentence(dice *rand.Rand) string {
	var b strings.Builder
	for i := range 8 + dice.IntN(8) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word(dice))
	}
	return b.String() + "."
}

// prose is n octets of text in lines.
func prose(n int, seed uint64) string {
	var b strings.Builder
	dice := rand.New(rand.NewPCG(seed, 2))
	for column := 0; b.Len() < n; {
		w := word(dice)
		if column += len(w) + 1; column > 72 {
			b.WriteString("\r\n")
			column = len(w) + 1
		}
		b.WriteString(w + " ")
	}
	text := b.String()[:max(n, 0)]
	if strings.HasSuffix(text, "\r") { // half a line's end is none
		text = text[:len(text)-1] + "x"
	}
	return text
}

// encoded is about n octets of base64 in lines of 76, of bytes that do not compress: an attachment is mostly compressed already.
func encoded(n int, seed uint64) string {
	raw := make([]byte, n*57/78)
	dice := rand.New(rand.NewPCG(seed, 3))
	for i := range raw {
		raw[i] = byte(dice.Uint32())
	}
	text := base64.StdEncoding.EncodeToString(raw)
	var b strings.Builder
	for len(text) > 76 {
		b.WriteString(text[:76] + "\r\n")
		text = text[76:]
	}
	b.WriteString(text)
	return b.String()
}
