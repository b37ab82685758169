package account

import (
	"fmt"
	"html/template"
	"strings"
)

// piece is a part of a paragraph on a line of its own. One of its fields is set.
type piece struct{ Text, Link, Code string }

// html returns the HTML of a letter, which says what its text says. It refers to nothing but the pages of its links.
func (l letter) html(language, subject, text string) (string, error) {
	const name = "letters/letter.html"
	t, err := template.ParseFS(letterTexts, name)
	if err != nil {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	var paragraphs [][]piece
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		paragraphs = append(paragraphs, l.pieces(paragraph))
	}
	var whole strings.Builder
	err = t.Execute(&whole, struct {
		Language, Subject string
		Paragraphs        [][]piece
	}{language, subject, paragraphs})
	if err != nil {
		return "", fmt.Errorf("fill in %s: %w", name, err)
	}
	return whole.String(), nil
}

// pieces returns the pieces of a paragraph of the text: a link is a line of its own, and a code ends its line.
func (l letter) pieces(paragraph string) (all []piece) {
	var lines []string
	flush := func() {
		if len(lines) > 0 {
			all, lines = append(all, piece{Text: strings.Join(lines, " ")}), nil
		}
	}
	for line := range strings.SplitSeq(paragraph, "\n") {
		before, endsInCode := strings.CutSuffix(line, l.code)
		switch {
		case isLink(line):
			flush()
			all = append(all, piece{Link: line})
		case l.code != "" && endsInCode:
			lines = append(lines, strings.TrimSpace(before))
			flush()
			all = append(all, piece{Code: l.code})
		default:
			lines = append(lines, line)
		}
	}
	flush()
	return all
}

// isLink reports whether a line of a text is a link.
func isLink(line string) bool {
	return (strings.HasPrefix(line, "https://") || strings.HasPrefix(line, "http://")) && !strings.Contains(line, " ")
}
