package mailcheck

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

//go:generate go run ./update

// packed is the data of the npm package caniemail that go generate writes; see package main in the folder update.
//
//go:embed caniemail.json.gz
var packed []byte

// Feature is a feature of HTML, CSS or images, with what was found out about mail clients.
type Feature struct {
	Slug        string            // caniemail's name, as in https://www.caniemail.com/features/css-gap/
	Title       string            // such as "display:flex"
	Description string            // plain text with `code` and [links](…), often empty
	Category    string            // html, css or image
	Tags        []string          // such as accessibility
	Notes       map[string]string // by their number
	Results     []Result

	partial, unsupported float64 // of 100 results; see share
}

// Result says whether one version of a client supports a feature.
type Result struct {
	Family, Platform string // keys of the data
	Client           string // their names
	Version          string
	Support          Support
	Qualified        bool     // there are notes on it
	Notes            []string // their numbers
	Newest           bool     // no later version of the client was tested
}

// Support is how far a client supports a feature.
type Support byte

// The values of Support are those of the data.
const (
	Supported   Support = 'y'
	Partial     Support = 'a'
	Unsupported Support = 'n'
	Unknown     Support = 'u'
)

// script is what the data has no feature for, since all clients agree: none runs scripts.
const script = "html-script"

// data is the decoded data.
type data struct {
	date     string
	families map[string]string // names by key
	features []Feature
}

// readData decodes the embedded data.
func readData() (*data, error) {
	plain, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	var file struct {
		Date  string `json:"date"`
		Names struct {
			Family   map[string]string `json:"family"`
			Platform map[string]string `json:"platform"`
		} `json:"names"`
		Features []struct {
			Feature
			Stats []string `json:"stats"`
		} `json:"features"`
	}
	if err := json.NewDecoder(plain).Decode(&file); err != nil {
		return nil, err
	}
	d := &data{date: file.Date, families: file.Names.Family}
	for _, entry := range file.Features {
		f := entry.Feature
		for _, row := range entry.Stats {
			results, err := parseRow(row, file.Names.Family, file.Names.Platform)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", f.Slug, err)
			}
			f.Results = append(f.Results, results...)
		}
		f.share()
		d.features = append(d.features, f)
	}
	d.features = append(d.features, Feature{
		Slug: script, Title: "<script> element", Description: "No mail client runs scripts.", Category: "html", unsupported: 100,
	})
	return d, nil
}

// parseRow reads "family platform|version support|…".
func parseRow(row string, families, platforms map[string]string) (results []Result, err error) {
	head, rest, _ := strings.Cut(row, "|")
	family, platform, _ := strings.Cut(head, " ")
	client := families[family] + " " + platforms[platform]
	for entry := range strings.SplitSeq(rest, "|") {
		version, support, _ := strings.Cut(entry, " ")
		if support == "" || !strings.Contains("yanu", support[:1]) {
			return nil, fmt.Errorf("%q is no version with its support", entry)
		}
		r := Result{Family: family, Platform: platform, Client: client, Version: version, Support: Support(support[0]), Qualified: len(support) > 1}
		for note := range strings.FieldsSeq(support[1:]) {
			r.Notes = append(r.Notes, strings.TrimPrefix(note, "#"))
		}
		results = append(results, r)
	}
	results[len(results)-1].Newest = true
	return results, nil
}

// share sets of how many in 100 results the feature is partly or not supported. As in Mailpit, so that scores can be compared, all versions
// count, and what has a note or is unknown counts as partly supported.
func (f *Feature) share() {
	partial, unsupported := 0, 0
	for _, r := range f.Results {
		switch {
		case r.Support == Unsupported && !r.Qualified:
			unsupported++
		case r.Support != Supported || r.Qualified:
			partial++
		}
	}
	all := float64(max(len(f.Results), 1))
	f.partial, f.unsupported = 100*float64(partial)/all, 100*float64(unsupported)/all
}

// Share returns of how many in 100 results the feature is supported, partly or not.
func (f *Feature) Share() (supported, partial, unsupported float64) {
	return 100 - f.partial - f.unsupported, f.partial, f.unsupported
}

// lacking returns the clients whose newest version does not support the feature, those that support it in part, and how many were tested.
func (f *Feature) lacking() (without, partly []string, tested int) {
	for _, r := range f.Results {
		if !r.Newest || r.Support == Unknown {
			continue
		}
		tested++
		switch r.Support {
		case Unsupported:
			without = append(without, r.Client)
		case Partial:
			partly = append(partly, r.Client)
		}
	}
	slices.Sort(without)
	slices.Sort(partly)
	return without, partly, tested
}
