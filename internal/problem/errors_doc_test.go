package problem_test

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gonebox/gonebox/internal/problem"
)

var update = flag.Bool("update", false, "write the generated documentation")

// docs/errors.md matches the table.
func TestErrorsDoc(t *testing.T) {
	const path = "../../docs/errors.md"
	want := errorsDoc()
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(have)); diff != "" {
		t.Errorf("docs/errors.md is out of date, run go test ./internal/problem -run TestErrorsDoc -update (-want +got):\n%s", diff)
	}
}

const errorsIntroduction = `# Errors

Generated from the table in ` + "`internal/problem/codes.go`" + ` by ` + "`go test ./internal/problem -run TestErrorsDoc -update`" + `; edits here are lost.

An error is ` + "`application/problem+json`" + ` (RFC 9457) with ` + "`type`, `title`, `status`, `code` and `traceId`" + `, and where it helps
` + "`detail`" + ` and ` + "`errors`" + `, a list of ` + "`{pointer, message}`" + ` that says which parts of the input are at fault (RFC 6901; a query parameter is
` + "`?name`" + `). Programs branch on ` + "`code`" + `: a code is never renamed and never changes its status. ` + "`type`" + ` is the address of the code's row
on the page that the service itself shows at ` + "`/docs/errors`" + `. A 429 carries ` + "`Retry-After`" + ` in seconds.

The codes that begin with ` + "`mail.`" + ` are not heard over HTTP: a mail server that delivers hears an SMTP reply in their place.
`

// errorsDoc returns docs/errors.md: a table for each group of codes.
func errorsDoc() []byte {
	var b bytes.Buffer
	b.WriteString(errorsIntroduction)
	group := ""
	for _, c := range problem.Codes() {
		if name, _, _ := strings.Cut(string(c), "."); name != group {
			group = name
			fmt.Fprintf(&b, "\n## %s\n\n| code | status | meaning |\n|---|---|---|\n", group)
		}
		fmt.Fprintf(&b, "| `%s` | %d %s | %s |\n", c, c.Status(), http.StatusText(c.Status()), c.Title())
	}
	return b.Bytes()
}
