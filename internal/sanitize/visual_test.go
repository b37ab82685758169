//go:build visual

package sanitize_test

import (
	"context"
	"flag"
	"fmt"
	"html"
	"image"
	decoder "image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gonebox/gonebox/internal/sanitize"
)

var shots = flag.String("shots", "", "directory to keep the screenshots in")

const (
	shotHeight = 1700 // pixels; the layouts are shorter
	maxChanged = 0.01 // of all pixels
)

// chromium returns the path of Chromium: of its headless shell, which the tests of the page need, too, or of the whole.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium-headless-shell", "chromium"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("Chromium is not installed")
	return ""
}

// TestLayoutsLookTheSame renders each layout in Chromium, as the sender wrote it beside what is left of it, at the width of
// a window and of a phone, and compares the pixels. It is run by hand, where Chromium is installed:
//
//	go test -tags visual -run TestLayoutsLookTheSame ./internal/sanitize -shots /tmp/shots
func TestLayoutsLookTheSame(t *testing.T) {
	browser := chromium(t)
	if *shots == "" {
		*shots = t.TempDir()
	}
	for _, l := range layouts {
		src, err := os.ReadFile("testdata/" + l.name + ".in.html")
		if err != nil {
			t.Fatal(err)
		}
		for _, width := range []int{700, 375} {
			t.Run(fmt.Sprintf("%s/%d", l.name, width), func(t *testing.T) {
				// The margin that browsers give a page is that of the page around the mail, not of the mail.
				const page = "<style>body{margin:0}</style>"
				safe := page + sanitize.HTML(string(src), "seed", nil)
				shot := render(t, browser, fmt.Sprintf("%s-%d", l.name, width), width, page+string(src), safe)
				if changed := difference(shot, width); changed > maxChanged {
					t.Errorf("%.2f %% of the pixels changed, want at most %v", 100*changed, maxChanged)
				} else {
					t.Logf("%.2f %% of the pixels changed", 100*changed)
				}
			})
		}
	}
}

// render takes a picture of two documents side by side, each in a frame of that width, both as high as the higher needs.
func render(t *testing.T, browser, name string, width int, left, right string) image.Image {
	t.Helper()
	frame := func(x int, doc string) string {
		return fmt.Sprintf(`<iframe sandbox="allow-same-origin" scrolling=no srcdoc="%s" style="position:absolute;left:%dpx;top:0;`+
			`width:%dpx;height:50px;border:0"></iframe>`, html.EscapeString(doc), x, width)
	}
	page := `<!DOCTYPE html><body style="margin:0;background:#fff">` + frame(0, left) + frame(width, right) + `<script>
		onload = () => {
			const frames = [...document.querySelectorAll("iframe")]
			const height = Math.max(...frames.map(f => f.contentDocument.documentElement.scrollHeight))
			for (const f of frames) f.style.height = height + "px"
		}</script>`
	file, err := filepath.Abs(filepath.Join(*shots, name+".html"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	picture := strings.TrimSuffix(file, ".html") + ".png"
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, browser, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
		"--force-device-scale-factor=1", "--disable-background-networking", "--host-resolver-rules=MAP * ~NOTFOUND",
		"--user-data-dir="+t.TempDir(), fmt.Sprintf("--window-size=%d,%d", 2*width, shotHeight), "--screenshot="+picture,
		"file://"+file).CombinedOutput()
	if err != nil {
		t.Fatalf("take a picture of %s: %v\n%s", file, err, out)
	}
	f, err := os.Open(picture)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	shot, err := decoder.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	return shot
}

// difference is the share of the pixels of the left half that differ visibly from those of the right half, down to the last
// row that is not white in both.
func difference(shot image.Image, width int) float64 {
	const visible = 0x2000 // of 0xffff
	changed, height := 0, 1
	for y := range shot.Bounds().Dy() {
		for x := range width {
			r1, g1, b1, _ := shot.At(x, y).RGBA()
			r2, g2, b2, _ := shot.At(width+x, y).RGBA()
			if r1&g1&b1&r2&g2&b2 != 0xffff {
				height = y + 1
			}
			if apart(r1, r2) > visible || apart(g1, g2) > visible || apart(b1, b2) > visible {
				changed++
			}
		}
	}
	return float64(changed) / float64(width*height)
}

func apart(a, b uint32) uint32 { return max(a, b) - min(a, b) }
