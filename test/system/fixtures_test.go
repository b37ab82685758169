package system_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// golden is how a fixture of test/mail must be shown; package mailparse has its own tests of the same files.
type golden struct {
	From        goldenAddress
	To          []goldenAddress
	CC          []goldenAddress
	ReplyTo     []goldenAddress
	Subject     string
	MessageID   string
	Date        *time.Time
	Fields      int
	Text, HTML  string
	Attachments []goldenAttachment
	Code        *string
}

type goldenAddress struct{ Name, Addr string }

type goldenAttachment struct {
	Filename, ContentType, ContentID string

	Inline bool
	Size   int
	SHA256 string
}

// TestFixtures sends every mail of test/mail and compares what the API shows with the golden file beside it.
func TestFixtures(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("../mail/*.eml")
	if err != nil || len(paths) < 60 {
		t.Fatalf("%d fixtures, %v", len(paths), err)
	}
	s := start(t, options{})
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".eml"), func(t *testing.T) {
			a := api{t: t, url: s.url}
			box := a.newMailbox()
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			reply := sendWhole(t, s.smtp, box.Address, content)
			if strings.HasPrefix(filepath.Base(path), "smtp-refused-") {
				wantReply(t, "a fixture to be refused", reply, "550 5.6.0 ")
				a.wantSubjects(box)
				return
			}
			wantReply(t, "a fixture", reply, "250 ")
			m := a.only(box)
			a.checkBytes(box, m, content)
			a.checkGolden(box, m, strings.TrimSuffix(path, ".eml")+".json")
		})
	}
}

// sendWhole sends content unchanged: with DATA if it ends with a line, otherwise with BDAT.
func sendWhole(t *testing.T, addr, to string, content []byte) string {
	t.Helper()
	if bytes.HasSuffix(content, []byte("\r\n")) {
		return send(t, addr, content, to)
	}
	reply, err := mustDial(t, addr).chunk("sender@example.org", to, content)
	if err != nil {
		t.Fatal(err)
	}
	return reply
}

// checkBytes compares the raw message and every attachment, octet by octet.
func (a api) checkBytes(box mailbox, m message, content []byte) {
	a.t.Helper()
	trace, raw := a.raw(box, m.ID)
	if !bytes.Equal(raw, content) {
		a.t.Errorf("the raw message differs (-sent +kept)\n%s", cmp.Diff(string(content), string(raw)))
	}
	if !bytes.Contains(trace, []byte("\r\nAuthentication-Results: ")) {
		a.t.Errorf("the fields in front are %q", trace)
	}
	if int(m.Size) != len(content) {
		a.t.Errorf("the size is %d, want %d", m.Size, len(content))
	}
	for _, att := range m.Attachments {
		if data := a.get("/messages/"+m.ID+"/attachments/"+att.ID, box.Token); len(data) != att.Size {
			a.t.Errorf("attachment %s has %d octets, its size says %d", att.Filename, len(data), att.Size)
		}
	}
}

// checkGolden compares the message with the golden file.
func (a api) checkGolden(box mailbox, m message, path string) {
	a.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		a.t.Fatal(err)
	}
	var want golden
	if err := json.Unmarshal(text, &want); err != nil {
		a.t.Fatal(err)
	}
	if len(want.To) == 0 { // a mail without To shows the envelope's
		want.To = []goldenAddress{{Addr: box.Address}}
	}
	got := shown(m)
	if (want.HTML == "") != (m.HTML == nil) {
		a.t.Errorf("html is shown: %v", m.HTML != nil)
	}
	if want.Text == "" && want.HTML != "" {
		got.Text = "" // made from the HTML
	}
	want.HTML = ""
	code := want.Code
	want.Code = nil
	if want.Date != nil {
		*want.Date = want.Date.Truncate(time.Millisecond)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		a.t.Errorf("(-want +got)\n%s", diff)
	}
	found := "none"
	if m.OTP != nil {
		found = m.OTP.Code
	}
	switch {
	case code == nil && m.OTP != nil:
		a.t.Errorf("the code is %s, but the mail has none", found)
	case code != nil && found != *code:
		a.t.Errorf("the code is %s, want %s", found, *code)
	}
}

// shown is a message in the form of the golden files.
func shown(m message) golden {
	g := golden{
		From: goldenOf(m.From), To: goldens(m.To), CC: goldens(m.CC), ReplyTo: goldens(m.ReplyTo),
		Subject: m.Subject, MessageID: m.MessageID, Fields: len(m.Headers), Text: m.Text,
	}
	if m.SentAt != nil {
		if at, err := time.Parse(time.RFC3339, *m.SentAt); err == nil {
			g.Date = &at
		}
	}
	for _, a := range m.Attachments {
		v := goldenAttachment{Filename: a.Filename, ContentType: a.ContentType, Inline: a.Inline, Size: a.Size, SHA256: a.SHA256}
		if a.ContentID != nil {
			v.ContentID = *a.ContentID
		}
		g.Attachments = append(g.Attachments, v)
	}
	return g
}

func goldenOf(a address) goldenAddress { return goldenAddress{Name: a.Name, Addr: a.Address} }

func goldens(list []address) (out []goldenAddress) {
	for _, a := range list {
		out = append(out, goldenOf(a))
	}
	return out
}
