package mailpit

import (
	"html"
	"net/http"
	"regexp"
	"strings"

	"github.com/gonebox/gonebox/internal/mailcheck"
)

// htmlCheck is the response with the features of a message's HTML. The names of the fields are those in JSON. Keywords is always empty, as in
// Mailpit.
type htmlCheck struct {
	Warnings  []featureWarning
	Platforms map[string][]string
	Total     featureTotal
}

type featureWarning struct {
	Slug, Title, Description, URL, Category string
	Tags                                    []string
	Keywords                                string
	Results                                 []featureResult
	NotesByNumber                           map[string]string
	Score                                   featureScore
}

type featureResult struct{ Name, Platform, Family, Version, Support, NoteNumber string }

type featureScore struct {
	Found                           int
	Supported, Partial, Unsupported float32
}

type featureTotal struct {
	Tests, Nodes                    int
	Supported, Partial, Unsupported float32
}

// htmlCheck responds with the features of a message's HTML that count in the score (docs/decisions/0074).
func (a *API) htmlCheck(w http.ResponseWriter, r *http.Request) {
	_, full, err := a.loadMessage(r)
	if err == nil && full.HTML == nil {
		writeError(w, http.StatusBadRequest, "message does not contain HTML")
		return
	}
	var found *mailcheck.Features
	if err == nil {
		found, err = a.Checks.Features(*full.HTML)
	}
	check := htmlCheck{Warnings: []featureWarning{}}
	if err == nil {
		check.Platforms, err = a.Checks.Platforms()
	}
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	check.Total = featureTotal{
		Tests: found.Tests, Nodes: found.Elements, Supported: float32(found.Score), Partial: float32(found.Partial), Unsupported: float32(found.Without),
	}
	for _, f := range found.Found {
		if f.Times > 0 {
			check.Warnings = append(check.Warnings, featureWarningOf(f))
		}
	}
	writeJSON(w, check)
}

// featureWarningOf converts a feature into the format of Mailpit, in which what has a note counts as supported in part.
func featureWarningOf(f mailcheck.Found) featureWarning {
	w := featureWarning{
		Slug: f.Slug, Title: f.Title, Description: markdown(f.Description), URL: "https://www.caniemail.com/features/" + f.Slug + "/", Category: f.Category,
		Tags: []string{}, Results: []featureResult{}, NotesByNumber: map[string]string{},
	}
	w.Tags = append(w.Tags, f.Tags...)
	for number, note := range f.Notes {
		w.NotesByNumber[number] = markdown(note)
	}
	supported, partial, unsupported := f.Share()
	w.Score = featureScore{f.Times, float32(supported), float32(partial), float32(unsupported)}
	if len(f.Results) == 0 {
		w.URL = "" // a feature that caniemail does not have
	}
	for _, result := range f.Results {
		shown := featureResult{
			Name: result.Client + " (" + result.Version + ")", Platform: result.Platform, Family: result.Family, Version: result.Version, Support: "partial",
		}
		switch {
		case result.Qualified:
		case result.Support == mailcheck.Supported:
			shown.Support = "yes"
		case result.Support == mailcheck.Unsupported:
			shown.Support = "no"
		}
		if n := len(result.Notes); n > 0 {
			shown.NoteNumber = result.Notes[n-1]
		}
		w.Results = append(w.Results, shown)
	}
	return w
}

// What the texts of the data have of Markdown: code, and links, some of them to pages of caniemail.com.
var (
	markdownCode = regexp.MustCompile("`([^`]+)`")
	markdownLink = regexp.MustCompile(`\[([^\[\]]+)\]\(((?:https?:/)?/[^()\s]+)\)`)
)

// markdown converts a text of the data into HTML.
func markdown(text string) string {
	text = markdownCode.ReplaceAllString(html.EscapeString(text), "<code>$1</code>")
	text = markdownLink.ReplaceAllString(text, `<a href="$2" target="_blank">$1</a>`)
	return strings.ReplaceAll(text, `<a href="/`, `<a href="https://www.caniemail.com/`)
}

// linkCheck is the response with the addresses in a message.
type linkCheck struct {
	Errors int
	Links  []checkedLink
}

type checkedLink struct {
	URL        string
	StatusCode int
	Status     string
}

const linksMax = 100 // as in Mailpit

// linkCheck responds with the addresses in a message. They come from its sender, so none of them is fetched.
func (a *API) linkCheck(w http.ResponseWriter, r *http.Request) {
	_, full, err := a.loadMessage(r)
	if err != nil {
		a.respondError(w, r, err)
		return
	}
	source, text := "", full.Text
	if full.HTML != nil {
		source = *full.HTML
	}
	if full.TextDerived {
		text = ""
	}
	check := linkCheck{Links: []checkedLink{}}
	for _, address := range mailcheck.Links(source, text, linksMax) {
		check.Links = append(check.Links, checkedLink{URL: address, Status: "not checked"})
	}
	writeJSON(w, check)
}
