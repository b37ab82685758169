package page

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Programs break the lines of a plain text where they grow too long, in the midst
// of a sentence. To a reader such a break is a space.

// The lengths that programs break lines at.
const (
	minWidth = 35
	maxWidth = 100
)

// widthOf is the length that the lines of a text were kept to, in runes, or 0 if
// they were not. Addresses cannot be broken, and say nothing.
func widthOf(s string) (width int) {
	for line := range strings.SplitSeq(s, "\n") {
		if len(line) <= width || strings.Contains(line, "://") {
			continue
		}
		if width = max(width, utf8.RuneCountInString(strings.TrimSpace(line))); width > maxWidth {
			return 0
		}
	}
	if width < minWidth {
		return 0
	}
	return width
}

// runsOn reports whether the line that began at a rune goes on in the next: it ends no
// sentence, the first word of the next would have made it too long, and that is not
// a number by itself.
func (p *Page) runsOn(from int, rest string, width int) bool {
	if from == len(p.Raw) || isLineEnd(p.Raw[len(p.Raw)-1]) || p.inBrackets(from) {
		return false
	}
	word, more := firstWord(rest)
	first, _ := utf8.DecodeRuneInString(word)
	switch {
	case !unicode.IsLetter(first) && !unicode.IsDigit(first), strings.HasSuffix(word, ":"):
		return false
	case !more && IsDigit(rune(word[len(word)-1])) && !strings.ContainsFunc(word, unicode.IsLetter):
		return false
	}
	return len(p.Raw)-from+1+utf8.RuneCountInString(word) > width
}

// inBrackets reports whether the last word of the line that began at a rune opens an
// angle bracket that it does not close: an address may go on in the next line.
func (p *Page) inBrackets(from int) bool {
	for i := len(p.Raw) - 1; i >= from && p.Raw[i] != ' ' && p.Raw[i] != '>'; i-- {
		if p.Raw[i] == '<' {
			return true
		}
	}
	return false
}

// isLineEnd reports whether r ends a sentence or a line by itself.
func isLineEnd(r rune) bool {
	switch r {
	case '.', ':', '!', '?', ';', '-', '=', '_', '*', '。', '！', '？', '：':
		return true
	}
	return false
}

// firstWord is the first word of a line, as far as one is that is kept to a width,
// and whether another follows.
func firstWord(line string) (word string, more bool) {
	line = line[:min(len(line), 4*maxWidth)]
	i := 0
	for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
		i++
	}
	end := i
	for end < len(line) && line[end] > ' ' {
		end++
	}
	return line[i:end], end+1 < len(line) && line[end] == ' ' && line[end+1] > ' '
}

// isMarkdown reports whether a plain text with lines that begin with an angle bracket is written
// in Markdown. It recognizes the delimiter row of a Markdown table: |------|:---:|. In
// Markdown such a line is set off, and does not quote another mail. What follows "wrote:" is quoted anyhow,
// and so is all of it in a mail that answers one ("Re: …").
func isMarkdown(subject, s string) bool {
	const tag = 8 // bytes of what mail programs write before the subject of an answer
	if !strings.HasPrefix(s, ">") && !strings.Contains(s, "\n>") || strings.IndexByte(subject[:min(tag, len(subject))], ':') >= 0 {
		return false
	}
	for line := range strings.SplitSeq(s, "\n") {
		if isTableRule(line) {
			return true
		}
	}
	return false
}

// isTableRule reports whether a line is the rule of a table.
func isTableRule(line string) bool {
	const shortest = len("|-|")
	line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), ">"))
	return len(line) >= shortest && strings.Trim(line, "|-: ") == "" && strings.Contains(line, "-") && strings.Contains(line, "|")
}
