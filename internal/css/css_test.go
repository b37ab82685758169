package css_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/css"
)

func TestDeclarations(t *testing.T) {
	for _, tt := range []struct {
		style string
		want  []string
	}{
		{"a:b;c:d", []string{"a:b", "c:d"}},
		{`a:"x;y";b:url(z;1)`, []string{`a:"x;y"`, "b:url(z;1)"}},
		{"a:b", []string{"a:b"}},
		{"", []string{""}},
	} {
		if got := slices.Collect(css.Declarations(tt.style)); !slices.Equal(got, tt.want) {
			t.Errorf("Declarations(%q) = %q, want %q", tt.style, got, tt.want)
		}
	}
}

func TestSplitOutside(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []string
	}{
		{"a,b", []string{"a", "b"}},
		{":is(a,b),c", []string{":is(a,b)", "c"}},
		{`[x="a,b"],/*,*/c`, []string{`[x="a,b"]`, "/*,*/c"}},
		{"url(a,b),c", []string{"url(a,b)", "c"}},
		{`a\,b,c`, []string{`a\,b`, "c"}},
		{"(a,b", []string{"(a,b"}},
	} {
		if got := slices.Collect(css.SplitOutside(tt.text, ",")); !slices.Equal(got, tt.want) {
			t.Errorf("SplitOutside(%q, %q) = %q, want %q", tt.text, ",", got, tt.want)
		}
	}
}

func TestParseSelector(t *testing.T) {
	for _, tt := range []struct {
		text        string
		parts       int
		specificity uint32
		ok          bool
	}{
		{"p", 1, 1, true},
		{"#a .b p", 3, 1<<16 + 1<<8 + 1, true},
		{"ul > li", 2, 2, true},
		{"a[href^='x']:first-child", 1, 2<<8 + 1, true},
		{"a:hover", 0, 0, false},
		{"a + b", 0, 0, false},
		{"> a", 0, 0, false},
		{"", 0, 0, false},
	} {
		got, ok := css.ParseSelector(tt.text)
		if ok != tt.ok || len(got.Parts) != tt.parts || got.Specificity != tt.specificity {
			t.Errorf("ParseSelector(%q) = %d parts of specificity %#x, %t; want %d of %#x, %t",
				tt.text, len(got.Parts), got.Specificity, ok, tt.parts, tt.specificity, tt.ok)
		}
	}
}

// FuzzCSS checks that whatever is split keeps its order and loses only what it is split by.
func FuzzCSS(f *testing.F) {
	for _, seed := range []string{`a{b:c}`, `/*x*/ @media (a){b{c:d}}`, `url(`, `"a\`, `a,b`, `((((`, "<!-- a -->", `[a=b i]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for i := css.RuleStart(text, 0); i < len(text); {
			end := css.TokenEnd(text, i)
			if end <= i || end > len(text) {
				t.Fatalf("TokenEnd(%q, %d) = %d, want more and at most %d", text, i, end, len(text))
			}
			i = end
		}
		for _, sep := range []string{",", ";"} {
			if got := strings.Join(slices.Collect(css.SplitOutside(text, sep)), sep); got != text {
				t.Errorf("SplitOutside(%q, %q) joined again is %q, want the text itself", text, sep, got)
			}
		}
		_, _ = css.ParseSelector(text)
		if got := css.WithoutComments(text); strings.Contains(got, "/*") && strings.Contains(text, "*/") && len(got) > len(text) {
			t.Errorf("WithoutComments(%q) = %q, want it no longer", text, got)
		}
	})
}
