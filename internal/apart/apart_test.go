package apart_test

import (
	"testing"

	"github.com/gonebox/gonebox/internal/apart"
)

func TestDeclared(t *testing.T) {
	for _, c := range []struct {
		property, value string
		want            apart.Layout
	}{
		{"display", "inline", apart.Inline},
		{"display", " BLOCK !important", apart.Block},
		{"display", "flex", apart.Block | apart.Items},
		{"display", "inline-grid!important", apart.Box | apart.Items},
		{"display", "inline-block", apart.Box},
		{"display", "table-cell", apart.Cell},
		{"display", "none", 0},
		{"float", "Right", apart.Box},
		{"float", "none", 0},
		{"position", "absolute", apart.Box},
		{"position", "relative", 0},
		{"vertical-align", "super", apart.Margin | apart.Raised},
		{"vertical-align", "middle", 0},
		{"padding", "8px", apart.Margin},
		{"padding", "8px 0", 0},
		{"margin", "0 0 0 1em", apart.Margin},
		{"margin-left", "1px", 0},
		{"padding-right", "3pt", apart.Margin},
		{"color", "red", 0},
	} {
		if got := apart.Declared(c.property, c.value); got != c.want {
			t.Errorf("Declared(%q, %q) = %b, want %b", c.property, c.value, got, c.want)
		}
	}
}

func TestParts(t *testing.T) {
	for _, c := range []struct {
		run    string
		single int // the characters of the run in the element that was open last
		next   string
		want   bool
	}{
		{"482913", 6, "Copy", true},
		{"Code", 4, "482913", true},
		{"K7P2XD", 6, "Copy", true},
		{"482913", 6, "10", true},
		{"482", 3, "913", false},
		{"K", 1, "7", false},
		{"K7", 2, "P2", false},
		{"code", 4, "word", false},
		{"482913", 6, "复制", false},
		{"", 0, "482913", false},
	} {
		run := apart.PieceOf(c.run)
		if got := run.Parts(c.single, apart.PieceOf(c.next)); got != c.want {
			t.Errorf("PieceOf(%q).Parts(%d, PieceOf(%q)) = %t, want %t", c.run, c.single, c.next, got, c.want)
		}
	}
}
