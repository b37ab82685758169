package main

import (
	"encoding/xml"
	"fmt"
	"os"
	"strings"
)

// chart is a picture of what a run measured: groups of figures, and of each the bars of the service and of others.
type chart struct {
	caption []string // lines below the bars
	groups  []barGroup
}

// barGroup holds figures of one unit.
type barGroup struct {
	title   string
	figures []figure
}

// figure is what was measured of several servers, the service first.
type figure struct {
	name string
	bars []bar
}

type bar struct {
	server string
	value  float64
}

// bars adds a figure to the chart.
func (r *report) bars(title, name string, all []bar) {
	if n := len(r.chart.groups); n == 0 || r.chart.groups[n-1].title != title {
		r.chart.groups = append(r.chart.groups, barGroup{title: title})
	}
	g := &r.chart.groups[len(r.chart.groups)-1]
	g.figures = append(g.figures, figure{name, all})
}

// The measures of the picture, in pixels.
const (
	chartWidth  = 800
	labelWidth  = 190
	barHeight   = 16
	figureGap   = 12
	groupGap    = 34
	valueWidth  = 230
	longestBar  = chartWidth - labelWidth - valueWidth
	oursColor   = "#2563eb"
	othersColor = "#94a3b8"
	textColor   = "#64748b" // readable on a light and on a dark page
)

// write writes the chart as SVG.
func (c *chart) write(file string) error {
	var b strings.Builder
	y := 24
	line := func(x int, size int, anchor, text string) {
		fmt.Fprintf(&b, `<text x="%d" y="%d" font-size="%d" text-anchor="%s" fill="%s">%s</text>`+"\n", x, y, size, anchor, textColor, escape(text))
	}
	for _, g := range c.groups {
		line(0, 15, "start", g.title)
		y += figureGap
		longest := 0.0
		for _, f := range g.figures {
			for _, bar := range f.bars {
				longest = max(longest, bar.value)
			}
		}
		for _, f := range g.figures {
			for i, bar := range f.bars {
				color := othersColor
				if i == 0 {
					color = oursColor
				}
				width := int(bar.value / longest * longestBar)
				fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%d" height="%d" rx="2" fill="%s"/>`+"\n", labelWidth, y, width, barHeight-2, color)
				y += barHeight - 4
				if i == 0 {
					line(0, 13, "start", f.name)
				}
				line(labelWidth+width+6, 12, "start", fmt.Sprintf("%.0f  %s", bar.value, bar.server))
				y += 4
			}
			y += figureGap
		}
		y += groupGap - figureGap
	}
	for _, text := range c.caption {
		line(0, 11, "start", text)
		y += barHeight
	}
	head := fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="system-ui, sans-serif">`+"\n", chartWidth, y, chartWidth, y)
	return os.WriteFile(file, []byte(head+b.String()+"</svg>\n"), 0o644)
}

func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes everything
	return b.String()
}
