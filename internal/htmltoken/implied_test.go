package htmltoken_test

import (
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/htmltoken"
)

func opened(path string) *htmltoken.Path {
	var p htmltoken.Path
	for name := range strings.FieldsSeq(path) {
		p.Push(htmltoken.ElementOf(name))
	}
	return &p
}

func TestImplied(t *testing.T) {
	for _, tt := range []struct{ path, start, want string }{
		{"div p", "p", "div"},
		{"div p", "div", "div"},
		{"div p b", "table", "div"},
		{"div p", "span", "div p"},
		{"div p", "img", "div p"},
		{"p table tr td", "p", "p table tr td"},
		{"td p i", "p", "td"},
		{"p button", "div", "p button"},
		{"p", "", "p"},
		{"ul li", "li", "ul"},
		{"ul li p b", "li", "ul"},
		{"ul li div", "li", "ul"},
		{"ul li ul", "li", "ul li ul"},
		{"ol li table tr td", "li", "ol li table tr td"},
		{"dl dt", "dd", "dl"},
		{"dl dd p", "dt", "dl"},
		{"dl dd dl", "dt", "dl dd dl"},
		{"table tr td", "td", "table tr"},
		{"table tr th p", "td", "table tr"},
		{"table tbody tr td", "tr", "table tbody"},
		{"table tr td table", "tr", "table tr td table"},
		{"table tbody tr td", "tbody", "table"},
		{"table thead tr th", "tbody", "table"},
		{"table tr td", "tfoot", "table"},
		{"table caption", "tbody", "table"},
		{"h1", "h2", ""},
		{"h1 b", "h2", "h1 b"},
		{"div h3", "div", "div h3"},
		{"p", "h1", ""},
		{"p a", "a", "p"},
		{"a b", "a", ""},
		{"a table tr td", "a", "a table tr td"},
		{"html head", "body", "html"},
	} {
		if got := strings.Fields(tt.path)[:opened(tt.path).Implied(htmltoken.ElementOf(tt.start))]; strings.Join(got, " ") != tt.want {
			t.Errorf("Implied(%q) of %q leaves %q open, want %q", tt.start, tt.path, got, tt.want)
		}
	}
}

func TestMatching(t *testing.T) {
	for _, tt := range []struct {
		path, end string
		want      int
	}{
		{"div p", "div", 0},
		{"div p", "p", 1},
		{"div p", "ul", -1},
		{"div div b", "div", 1},
		{"div table tr td", "div", -1},
		{"div table tr td p", "td", 3},
		{"div table tr td table tr td", "table", 4},
		{"table tr td table", "td", -1},
		{"h1", "h2", 0},
		{"h1 b", "h2", -1},
		{"html body div", "body", 1},
		{"", "p", -1},
	} {
		if got := opened(tt.path).Matching(tt.end); got != tt.want {
			t.Errorf("Matching(%q) of %q = %d, want %d", tt.end, tt.path, got, tt.want)
		}
	}
}
