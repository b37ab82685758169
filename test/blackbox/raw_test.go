package blackbox_test

import (
	"bytes"
	"encoding/base64"
	"mime"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// behindTrace is a raw message without the trace fields that this server added.
func behindTrace(t testing.TB, raw []byte) []byte {
	t.Helper()
	for _, field := range []string{"Return-Path:", "Authentication-Results:", "Received:"} {
		if !bytes.HasPrefix(raw, []byte(field)) {
			t.Fatalf("the raw message is %.200q, want %s at its beginning", raw, field)
		}
		for first := true; first || len(raw) > 0 && (raw[0] == ' ' || raw[0] == '\t'); first = false {
			_, raw, _ = bytes.Cut(raw, []byte("\r\n"))
		}
	}
	return raw
}

func TestRawMessageIsUnchanged(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	// Lines may contain any octets but CR, LF and NUL, and begin with dots.
	line := rapid.Custom(func(t *rapid.T) []byte {
		text := rapid.SliceOfN(rapid.ByteRange(1, 255), 0, 120).Draw(t, "octets")
		text = bytes.Map(func(r rune) rune { return r }, bytes.ReplaceAll(bytes.ReplaceAll(text, []byte("\r"), nil), []byte("\n"), nil))
		return append([]byte(rapid.SampledFrom([]string{"", ".", ".."}).Draw(t, "dots")), text...)
	})
	rapid.Check(t, func(rt *rapid.T) {
		lines := rapid.SliceOfN(line, 0, 20).Draw(rt, "lines")
		sent := append(bytes.Join(append([][]byte{[]byte("Subject: raw message"), nil}, lines...), []byte("\r\n")), "\r\n"...)
		id := s.mail(m.box(), apptest.Mail{Raw: sent}).ID
		a := s.Call(http.MethodGet, "/messages/"+id+"/raw", m.Token, nil)
		if got := behindTrace(t, a.Body); a.Status != 200 || !bytes.Equal(got, sent) {
			rt.Fatalf("GET raw: status %d, %q, want 200 and %q as sent", a.Status, got, sent)
		}
		s.call(http.MethodDelete, "/messages/"+id, m.Token, 204, "")
	})
}

func TestRawMessageIsADownload(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	id := s.mail(m.box(), apptest.Mail{Subject: "x"}).ID
	h := s.call(http.MethodGet, "/messages/"+id+"/raw", m.Token, 200, "").Header
	disposition, params, err := mime.ParseMediaType(h.Get("Content-Disposition"))
	if err != nil || disposition != "attachment" || params["filename"] != id+".eml" || h.Get("Content-Type") != "message/rfc822" {
		t.Errorf(`s.call(GET, "/messages/"+id+"/raw", m.Token, 200, "").Header = %v, want no error, "attachment", filename %v and Content-Type "message/rfc822"`, h, id+".eml")
	}
	if h.Get("Cache-Control") != "no-store" || !strings.Contains(h.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("GET raw: the header is %v, want no-store, and sandbox in Content-Security-Policy", h)
	}
}

func TestRawMessageExpiresAfterRetention(t *testing.T) {
	t.Parallel()
	s := start(t, nil)
	m := s.create("", nil)
	id := s.mail(m.box(), apptest.Mail{Subject: "x"}).ID
	s.Clock.Advance(15*time.Minute - time.Millisecond)
	s.call(http.MethodGet, "/messages/"+id+"/raw", m.Token, 200, "")
	s.Clock.Advance(time.Millisecond)
	s.call(http.MethodGet, "/messages/"+id+"/raw", m.Token, 410, "message.raw_expired")
	if full := get[message](s, "/messages/"+id, m.Token); !full.RawExpiresAt.Equal(s.Clock.Now()) {
		t.Errorf("rawExpiresAt %s, now %s, want RawExpiresAt %v", full.RawExpiresAt, s.Clock.Now(), s.Clock.Now())
	}
}

func TestAttachments(t *testing.T) {
	t.Parallel()
	content := make([]byte, 256)
	for i := range content {
		content[i] = byte(i)
	}
	s := start(t, settings{"message.attachment_max": "256B"})
	m := s.create("", nil)
	for name, c := range map[string]struct {
		parameter string // of Content-Disposition, as sent
		filename  string // as shown
	}{
		"plain":        {"filename=page.html", "page.html"},
		"quotes":       {`filename="a \"b\" c.txt"`, `a "b" c.txt`},
		"not ASCII":    {"filename*=utf-8''%E2%82%AC%20%F0%9F%91%BB.txt", "€ 👻.txt"},
		"line ends":    {"filename*=utf-8''a%0D%0ASet-Cookie:x.txt", ""},
		"a path":       {`filename="../../etc/passwd"`, ""},
		"none":         {"x=y", ""},
		"another line": {"filename*=utf-8''a%E2%80%A8b.txt", ""},
	} {
		t.Run(name, func(t *testing.T) {
			raw := crlf("Subject: file", "MIME-Version: 1.0", `Content-Type: multipart/mixed; boundary="b"`, "", "--b",
				"Content-Type: text/html", "Content-Disposition: attachment; "+c.parameter, "Content-Transfer-Encoding: base64", "",
				base64.StdEncoding.EncodeToString(content), "--b--")
			id := s.mail(m.box(), apptest.Mail{Raw: raw}).ID
			files := get[message](s, "/messages/"+id, m.Token).Attachments
			if len(files) != 1 {
				t.Fatalf("the attachments of %s are %+v, want one", id, files)
			}
			f := files[0]
			identifier(t, f.ID, "att")
			if c.filename != "" && f.Filename != c.filename || f.Size != 256 || !f.Available || f.ContentType != "text/html" ||
				f.SHA256 != "40aff2e9d2d8922e47afd4648e6967497158785fbd1da870e7110266bf944880" {
				t.Errorf("the attachment is %+v, want 256 octets of text/html that are available, with their SHA-256 and the file name %q", f, c.filename)
			}
			a := s.call(http.MethodGet, "/messages/"+id+"/attachments/"+f.ID, m.Token, 200, "")
			if !bytes.Equal(a.Body, content) || a.Header.Get("Content-Type") != "application/octet-stream" || a.Header.Get("Set-Cookie") != "" {
				t.Errorf("GET /messages/%s/attachments/%s = %v %x, want the content as application/octet-stream, without a cookie", id, f.ID, a.Header, a.Body)
			}
			disposition, params, err := mime.ParseMediaType(a.Header.Get("Content-Disposition"))
			if err != nil || disposition != "attachment" || strings.ContainsAny(params["filename"], "\r\n\x00/\\") {
				t.Errorf("Content-Disposition is %q, want an attachment whose file name has no slash, line end or NUL", a.Header.Get("Content-Disposition"))
			}
			if c.filename != "" && params["filename"] != c.filename {
				t.Errorf("file name %q, want %q", params["filename"], c.filename)
			}
		})
	}
}

func TestAttachmentAboveLimitIsNotStored(t *testing.T) {
	t.Parallel()
	s := start(t, settings{"message.attachment_max": "100B"})
	m := s.create("", nil)
	id := s.mail(m.box(), apptest.Mail{Raw: withAttachment("large.bin", strings.Repeat("QUJD", 50))}).ID
	f := get[message](s, "/messages/"+id, m.Token).Attachments[0]
	if f.Available || f.Size != 150 || f.Filename != "large.bin" {
		t.Errorf("the attachment is %+v, want large.bin of 150 octets, not available", f)
	}
	path := "/messages/" + id + "/attachments/"
	s.call(http.MethodGet, path+f.ID, m.Token, 404, "attachment.not_retained")
	for _, no := range []string{"att_01m7zmcdrqfe4t1d2x0gmbspgh", "x", id, "%00", strings.Repeat("a", 5000)} {
		s.call(http.MethodGet, path+no, m.Token, 404, "attachment.not_found")
	}
	// An attachment is not found under another message.
	other := s.mail(m.box(), apptest.Mail{Raw: withAttachment("small.bin", "QUJD")}).ID
	s.call(http.MethodGet, "/messages/"+other+"/attachments/"+f.ID, m.Token, 404, "attachment.not_found")
}
