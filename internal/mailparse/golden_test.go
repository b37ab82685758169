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

var update = flag.Bool("update", false, "rewrite the golden file; read what changed afterwards")

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
		t.Fatalf("there are %d fixtures in %s, want 70 at least (error %v)", len(paths), fixtures, err)
	}
	goldens := readGoldens(t)
	kept := make(map[string]golden, len(paths))
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".eml")
		want, ok := goldens[name]
		kept[name] = want
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			m := mailparse.Parse(raw)
			checkBounds(t, m, len(raw))
			got := goldenOf(m)
			got.Code = want.Code
			switch {
			case *update:
				kept[name] = got
			case !ok:
				t.Fatalf("golden.json has no entry %q, want one for each mail", name)
			default:
				compareGolden(t, name, want, got)
			}
		})
	}
	if *update {
		writeGoldens(t, kept)
		return
	}
	for name := range goldens {
		if _, ok := kept[name]; !ok {
			t.Errorf("golden.json has an entry %q, want a mail %s.eml for it", name, name)
		}
	}
}

func compareGolden(t *testing.T, name string, want, got golden) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Parse of %s.eml (-want of golden.json +got):\n%s", name, diff)
	}
	if want.Code != nil && !strings.Contains(alphanumerics(got.Subject+got.Text+got.HTML), alphanumerics(*want.Code)) {
		t.Errorf("%s.eml has nowhere the code %s, want it there as golden.json says", name, *want.Code)
	}
}

// readGoldens reads what each fixture must be parsed to, by its name without .eml.
func readGoldens(t *testing.T) (goldens map[string]golden) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(fixtures, "golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &goldens); err != nil {
		t.Fatal(err)
	}
	return goldens
}

func writeGoldens(t *testing.T, goldens map[string]golden) {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(goldens); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(fixtures, "golden.json"), b.Bytes(), 0o644); err != nil {
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
			t.Errorf("%s has %d bytes, want at most %v", path, len(raw), 20<<10)
		}
		rest := bytes.ReplaceAll(raw, []byte("\r\n"), nil)
		refused := bytes.ContainsAny(rest, "\r\n\x00")
		if said := strings.HasPrefix(filepath.Base(path), "smtp-refused-"); refused != said {
			t.Errorf("%s: SMTP refuses it: %t, want %t as its name says", path, refused, said)
		}
		for line := range bytes.SplitSeq(raw, []byte("\r\n")) {
			if len(line) > 998 && !strings.HasPrefix(filepath.Base(path), "long-line-") {
				t.Errorf("%s has a line of %d octets, want at most 998 unless its name begins with long-line-", path, len(line))
			}
		}
	}
}
