package mailparse_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gonebox/gonebox/internal/mailparse"
)

var update = flag.Bool("update", false, "rewrite the golden files; read each afterwards")

const fixtures = "../../test/mail"

// golden is what a fixture must be parsed to. Code is written by hand: the one-time code a person
// would find in the mail and type, or null.
type golden struct {
	From        mailbox      `json:"from"`
	To          []mailbox    `json:"to,omitempty"`
	Cc          []mailbox    `json:"cc,omitempty"`
	ReplyTo     []mailbox    `json:"replyTo,omitempty"`
	Subject     string       `json:"subject"`
	MessageID   string       `json:"messageId"`
	Date        *time.Time   `json:"date"`
	Fields      int          `json:"fields"`
	Text        string       `json:"text"`
	HTML        string       `json:"html"`
	Attachments []attachment `json:"attachments,omitempty"`
	Code        *string      `json:"code"`
}

type mailbox struct {
	Name string `json:"name"`
	Addr string `json:"addr"`
}

type attachment struct {
	Filename    string `json:"filename"`
	ContentType string `json:"contentType"`
	ContentID   string `json:"contentId,omitempty"`
	Inline      bool   `json:"inline"`
	Size        int    `json:"size"`
	SHA256      string `json:"sha256"`
}

func goldenOf(m *mailparse.Message) golden {
	g := golden{
		From: mailbox(m.From), To: mailboxes(m.To), Cc: mailboxes(m.Cc), ReplyTo: mailboxes(m.ReplyTo),
		Subject: m.Subject, MessageID: m.MessageID, Fields: len(m.Header), Text: m.Text, HTML: m.HTML,
	}
	if !m.Date.IsZero() {
		g.Date = &m.Date
	}
	for _, a := range m.Attachments {
		sum := sha256.Sum256(a.Data)
		g.Attachments = append(g.Attachments, attachment{
			Filename: a.Filename, ContentType: a.ContentType, ContentID: a.ContentID, Inline: a.Inline,
			Size: len(a.Data), SHA256: hex.EncodeToString(sum[:]),
		})
	}
	return g
}

func mailboxes(list []mailparse.Address) (out []mailbox) {
	for _, a := range list {
		out = append(out, mailbox(a))
	}
	return out
}

func TestGolden(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(fixtures, "*.eml"))
	if err != nil || len(paths) < 70 {
		t.Fatalf("%d fixtures, %v", len(paths), err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".eml"), func(t *testing.T) {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			m := mailparse.Parse(raw)
			checkBounds(t, m, len(raw))
			compareGolden(t, strings.TrimSuffix(path, ".eml")+".json", goldenOf(m))
		})
	}
}

func compareGolden(t *testing.T, path string, got golden) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil && !*update {
		t.Fatal(err)
	}
	var want golden
	if err := json.Unmarshal(data, &want); err != nil && !*update {
		t.Fatal(err)
	}
	got.Code = want.Code
	if *update {
		writeGolden(t, path, got)
		return
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if want.Code != nil && !strings.Contains(alphanumerics(got.Subject+got.Text+got.HTML), alphanumerics(*want.Code)) {
		t.Errorf("the code %s is nowhere in the mail", *want.Code)
	}
}

func writeGolden(t *testing.T, path string, g golden) {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(g); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

func alphanumerics(s string) string {
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' {
			return r
		}
		return -1
	}, s)
}

// TestFixtures checks that every fixture can be sent over SMTP, but those that say they cannot.
func TestFixtures(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(fixtures, "*.eml"))
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(raw) > 20<<10 {
			t.Errorf("%s has %d bytes", path, len(raw))
		}
		rest := bytes.ReplaceAll(raw, []byte("\r\n"), nil)
		refused := bytes.ContainsAny(rest, "\r\n\x00")
		if said := strings.HasPrefix(filepath.Base(path), "smtp-refused-"); refused != said {
			t.Errorf("%s: refused on SMTP: %v, by its name: %v", path, refused, said)
		}
		for line := range bytes.SplitSeq(raw, []byte("\r\n")) {
			if len(line) > 998 && !strings.HasPrefix(filepath.Base(path), "long-line-") {
				t.Errorf("%s: a line of %d bytes", path, len(line))
			}
		}
	}
}
