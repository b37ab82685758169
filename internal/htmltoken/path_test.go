package htmltoken_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/htmltoken"
)

// A path answers as a search from the innermost element on does, whatever was opened, closed and removed before.
func TestPathAnswersAsASearchDoes(t *testing.T) {
	names := strings.Fields("div p b ul li dl dd dt table tbody tr td th caption button a nobr head body html template h1 h2 span x1 x2 x3 x4 object")
	random := rand.New(rand.NewPCG(1, 2))
	var path htmltoken.Path
	var open []string
	for range 20_000 {
		name := names[random.IntN(len(names))]
		switch n := len(open); {
		case n > 0 && random.IntN(4) == 0:
			i := max(random.IntN(n), random.IntN(n))
			open = slices.Delete(open, i, i+1)
			path.Remove(i)
		case n > 40 || random.IntN(20) == 0:
			n = max(random.IntN(n+1), random.IntN(n+1))
			open = open[:n]
			path.Cut(n)
		default:
			open = append(open, name)
			path.Push(htmltoken.ElementOf(name))
		}
		if got := path.Len(); got != len(open) {
			t.Fatalf("Len() = %d, want %d for %q", got, len(open), open)
		}
		if got, want := path.Implied(htmltoken.ElementOf(name)), implied(open, name); got != want {
			t.Fatalf("Implied(%q) = %d, want %d, of %q", name, got, want, open)
		}
		if got, want := path.Matching(name), matching(open, name); got != want {
			t.Fatalf("Matching(%q) = %d, want %d, of %q", name, got, want, open)
		}
		want := len(open) - 1
		for want >= 0 && open[want] != name {
			want--
		}
		if got := path.Innermost(name); got != want {
			t.Fatalf("Innermost(%q) = %d, want %d, of %q", name, got, want, open)
		}
	}
	path.Reset()
	if got := path.Innermost("div"); path.Len() != 0 || got != -1 {
		t.Errorf("after Reset, Len() = %d and Innermost(div) = %d, want 0 and -1", path.Len(), got)
	}
}

const (
	scope = "applet button caption html marquee object table td template th"
	items = scope + " article aside blockquote center dd details dialog dir dl dt fieldset figcaption figure footer form header hgroup hr li listing " +
		"main menu nav ol plaintext pre search section summary ul xmp h1 h2 h3 h4 h5 h6"
	table = "table template html"
)

// within searches the first n elements for one of the names, from the innermost on, as far as one of bounds.
func within(open []string, n int, bounds string, names ...string) int {
	for i := n - 1; i >= 0; i-- {
		if slices.Contains(names, open[i]) {
			return i
		}
		if slices.Contains(strings.Fields(bounds), open[i]) {
			break
		}
	}
	return n
}

func implied(open []string, name string) int {
	n := len(open)
	switch name {
	case "li":
		n = within(open, n, items, "li")
	case "dd", "dt":
		n = within(open, n, items, "dd", "dt")
	case "td", "th":
		return within(open, n, table, "td", "th")
	case "tr":
		return within(open, n, table, "tr")
	case "tbody", "caption":
		return within(open, min(within(open, n, table, "tbody", "thead"), within(open, n, table, "tfoot", "caption")), table, "tr")
	case "a", "button", "nobr":
		return within(open, n, scope, name)
	case "body":
		return within(open, n, scope, "head")
	}
	if slices.Contains(strings.Fields(items+" div p"), name) && !slices.Contains(strings.Fields("applet caption html marquee object td template th"), name) {
		n = within(open, n, scope, "p")
	}
	if n > 0 && (name == "h1" || name == "h2") && (open[n-1] == "h1" || open[n-1] == "h2") {
		n--
	}
	return n
}

func matching(open []string, name string) int {
	bounds := scope
	switch name {
	case "table", "tbody", "tr", "td", "th", "caption":
		bounds = table
	case "body", "html":
		bounds = ""
	}
	if i := within(open, len(open), bounds, name); i < len(open) {
		return i
	}
	if n := len(open); n > 0 && (name == "h1" || name == "h2") && (open[n-1] == "h1" || open[n-1] == "h2") {
		return n - 1
	}
	return -1
}
