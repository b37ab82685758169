package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/app/apptest"
)

// contentService is a running service on which the commands publish.
type contentService struct {
	*apptest.Service
	t *testing.T
}

func startContent(t *testing.T) *contentService {
	t.Helper()
	return &contentService{t: t, Service: apptest.Start(t, apptest.Options{})}
}

// words runs a command on the database of the service. Its arguments may contain blanks.
func (p *contentService) words(args ...string) outcome {
	p.t.Helper()
	var out, err strings.Builder
	code := run(p.t.Context(), append(args, "--data-dir", p.Dir), nil, &out, &err)
	return outcome{code, out.String(), err.String()}
}

// row runs a command with --json, which must succeed, and decodes its output.
func (p *contentService) row(v any, args ...string) {
	p.t.Helper()
	got := p.words(append(args, "--json")...)
	if got.code != exitOK || got.err != "" {
		p.t.Fatalf("%q: code %d, %s", args, got.code, got.err)
	}
	if err := json.Unmarshal([]byte(got.out), v); err != nil {
		p.t.Fatalf("%q: %v in %s", args, err, got.out)
	}
}

// shown returns the public response at a path.
func (p *contentService) shown(path string) (status int, all any) {
	p.t.Helper()
	a := p.Call(http.MethodGet, "/content/"+path, "", nil)
	if a.Status == http.StatusOK {
		a.Into(p.t, &all)
	}
	return a.Status, all
}

func TestPublishedNoticeIsShownAtOnce(t *testing.T) {
	p := startContent(t)
	var row map[string]any
	p.row(&row, "notice", "publish", "--title", "Maintenance on Sunday", "--html", `<p onclick="x()">From <b>2:00</b></p><script>x()</script>`,
		"--kind", "dialog", "--level", "critical", "--locale", "vi-vn", "--no-dismissible", "--ends", "2100-01-01T00:00:00+07:00",
		"--starts", "2026-03-01T00:00:00Z") // the clock of the service stands still in March
	id, _ := row["id"].(string)
	for key, want := range map[string]any{
		"kind": "dialog", "level": "critical", "title": "Maintenance on Sunday", "html": "<p>From <b>2:00</b></p>", "locale": "vi-VN",
		"startsAt": "2026-03-01T00:00:00.000Z", "endsAt": "2099-12-31T17:00:00.000Z", "dismissible": false, "state": "shown", "withdrawnAt": nil,
	} {
		if row[key] != want {
			t.Errorf("%s is %v, want %v", key, row[key], want)
		}
	}
	_, all := p.shown("notices?locale=vi-VN")
	if list := all.([]any); len(list) != 1 || list[0].(map[string]any)["id"] != id || list[0].(map[string]any)["html"] != row["html"] {
		t.Errorf("shown: %v", all)
	}
	got := p.words("notice", "withdraw", id)
	if got.code != exitOK || strings.Count(got.out, "\n") != 2 || !strings.Contains(got.out, id+"  withdrawn  dialog  critical  vi-VN") {
		t.Errorf("%+v", got)
	}
	if _, all := p.shown("notices"); len(all.([]any)) != 0 {
		t.Errorf("shown after withdrawal: %v", all)
	}
}

func TestNoticeListIsNewestFirst(t *testing.T) {
	p := startContent(t)
	if got := p.words("notice", "list", "--json"); got.out != "[]\n" {
		t.Errorf("%+v", got)
	}
	for _, title := range []string{"first", "second", "third"} {
		var row map[string]any
		p.row(&row, "notice", "publish", "--title", title)
		if row["kind"] != "banner" || row["level"] != "info" || row["dismissible"] != true || row["html"] != "" || row["endsAt"] != nil {
			t.Errorf("by default: %v", row)
		}
	}
	var rows []map[string]any
	p.row(&rows, "notice", "list", "--limit", "2")
	if len(rows) != 2 || rows[0]["title"] != "third" || rows[1]["title"] != "second" {
		t.Errorf("%v", rows)
	}
	if got := p.words("notice", "list"); !strings.HasPrefix(got.out, "ID ") || strings.Count(got.out, "\n") != 4 || !strings.Contains(got.out, "shown") {
		t.Errorf("%+v", got)
	}
}

func TestPagesArePutAndRemoved(t *testing.T) {
	p := startContent(t)
	file := filepath.Join(t.TempDir(), "terms.html")
	if err := os.WriteFile(file, []byte("<h1>Terms</h1>\n<img src=x>\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var row map[string]any
	p.row(&row, "page", "put", "terms", "--title", "Terms of use", "--html-file", file)
	if row["html"] != "<h1>Terms</h1>" || row["locale"] != nil || row["key"] != "terms" {
		t.Errorf("%v", row)
	}
	stdin(t, "<p>Xin chào</p>")
	if got := p.words("page", "put", "terms", "--title", "Điều khoản", "--locale", "vi", "--html-file", "-"); got.code != exitOK || !strings.Contains(got.out, "Điều khoản") {
		t.Errorf("%+v", got)
	}
	if _, page := p.shown("pages/terms?locale=vi"); page.(map[string]any)["html"] != "<p>Xin chào</p>" {
		t.Errorf("%v", page)
	}
	p.row(&row, "page", "put", "terms", "--title", "Terms", "--html", "")
	if _, page := p.shown("pages/terms"); page.(map[string]any)["title"] != "Terms" || page.(map[string]any)["html"] != "" {
		t.Errorf("%v", page)
	}
	var rows []map[string]any
	p.row(&rows, "page", "list")
	if len(rows) != 2 || rows[0]["locale"] != nil || rows[1]["locale"] != "vi" {
		t.Errorf("%v", rows)
	}
	if got := p.words("page", "list"); !strings.HasPrefix(got.out, "KEY ") || strings.Count(got.out, "\n") != 3 {
		t.Errorf("%+v", got)
	}
	if got := p.words("page", "remove", "terms", "--locale", "vi"); got.code != exitOK || got.out != "1 removed.\n" {
		t.Errorf("%+v", got)
	}
	p.row(&row, "page", "remove", "terms", "--every-locale")
	if row["removed"] != 1.0 {
		t.Errorf("%v", row)
	}
	if status, _ := p.shown("pages/terms"); status != 404 {
		t.Errorf("after removal: status %d", status)
	}
}

func TestPublishingRefusesInvalidInput(t *testing.T) {
	p := startContent(t)
	missing := filepath.Join(t.TempDir(), "none.html")
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"notice", "publish", "--title", " "}, exitFailure, "title must be one line"},
		{[]string{"notice", "publish", "--title", "t", "--locale", "klingon"}, exitFailure, "locale must be a language tag"},
		{[]string{"notice", "publish", "--title", "t", "--html", "<script>x</script>"}, exitFailure, "html has no content that may be published"},
		{[]string{"notice", "publish", "--title", "t", "--ends", "2020-01-01T00:00:00Z"}, exitFailure, "must lie in the future"},
		{[]string{"notice", "publish", "--title", "t", "--html-file", missing}, exitFailure, "--html-file: open"},
		{[]string{"notice", "withdraw", "x"}, exitFailure, `"x" is not the identifier of a notice`},
		{[]string{"notice", "withdraw", "ntc_00000000000000000000000000"}, exitFailure, "there is no such notice"},
		{[]string{"page", "put", "Terms", "--title", "t", "--html", ""}, exitFailure, "key must be lower-case"},
		{[]string{"page", "put", "terms", "--title", "t", "--html", strings.Repeat("x", 300<<10)}, exitFailure, "at most 256 KiB"},
		{[]string{"page", "remove", "terms"}, exitFailure, "there is no such page"},
		{[]string{"page", "remove", "terms", "--locale", "!"}, exitFailure, "locale must be a language tag"},

		{[]string{"notice"}, exitUsage, "see gonebox notice --help"},
		{[]string{"notice", "publish"}, exitUsage, "missing flags: --title=STRING; see gonebox notice publish --help"},
		{[]string{"notice", "publish", "--title", "t", "--kind", "popup"}, exitUsage, "--kind must be one of"},
		{[]string{"notice", "publish", "--title", "t", "--level", "loud"}, exitUsage, "--level must be one of"},
		{[]string{"notice", "publish", "--title", "t", "--starts", "tomorrow"}, exitUsage, "is not an RFC 3339 time"},
		{[]string{"notice", "publish", "--title", "t", "--html", "x", "--html-file", "y"}, exitUsage, "can't be used together"},
		{[]string{"notice", "list", "--limit", "0"}, exitUsage, "--limit 0: must be from 1 to 1000; see gonebox notice list --help"},
		{[]string{"notice", "withdraw"}, exitUsage, "see gonebox notice withdraw --help"},
		{[]string{"page", "put", "terms", "--title", "t"}, exitUsage, "missing flags: --html=TEXT or --html-file=FILE; see gonebox page put --help"},
		{[]string{"page", "put"}, exitUsage, "see gonebox page put --help"},
		{[]string{"page", "remove", "terms", "--every-locale", "--locale", "vi"}, exitUsage, "can't be used together"},
	} {
		p.words(c.args...).oneErrorLine(t, strings.Join(c.args, " ")[:min(80, len(strings.Join(c.args, " ")))], c.code, c.want)
	}
	if got := p.words("notice", "list", "--json"); got.out != "[]\n" {
		t.Errorf("%+v", got)
	}
	if got := p.words("page", "list", "--json"); got.out != "[]\n" {
		t.Errorf("%+v", got)
	}
	stdin(t, strings.Repeat("x", 1<<20+1))
	p.words("page", "put", "terms", "--title", "t", "--html-file", "-").oneErrorLine(t, "a large standard input", exitFailure, "larger than 1 MiB")
}

func TestPublishingHelpHasExamples(t *testing.T) {
	for _, command := range []string{"notice ", "notice publish ", "notice list ", "notice withdraw ", "page ", "page put ", "page list ", "page remove "} {
		got := gonebox(t, command+"--help")
		if got.code != exitOK || got.err != "" || !strings.Contains(got.out, "Example:") || !strings.Contains(got.out, "  gonebox "+command) {
			t.Errorf("%s--help: code %d\n%s%s", command, got.code, got.out, got.err)
		}
	}
}
