package main

import (
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestChartIsWellFormed(t *testing.T) {
	r := report{out: io.Discard, progress: io.Discard}
	r.chart.caption = []string{"Medians", "2 cores of <A & B>"}
	r.bars("Mails a second", "4 KiB, reused", []bar{{"Gonebox", 2000}, {"go-smtp", 4000}, {"Postfix", 500}})
	r.bars("Mails a second", "64 KiB, reused", []bar{{"Gonebox", 500}, {"go-smtp", 400}})
	r.bars("Calls a second", "list of 20", []bar{{"Gonebox", 9000}})
	file := filepath.Join(t.TempDir(), "chart.svg")
	if err := r.chart.write(file); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var root struct {
		XMLName xml.Name
		Texts   []string   `xml:"text"`
		Bars    []struct{} `xml:"rect"`
	}
	if err := xml.Unmarshal(text, &root); err != nil || len(root.Bars) != 6 || root.Texts[len(root.Texts)-1] != r.chart.caption[1] {
		t.Errorf("the chart has %d bars and the texts %q, %v, want 6 bars and %q last", len(root.Bars), root.Texts, err, r.chart.caption[1])
	}
}
