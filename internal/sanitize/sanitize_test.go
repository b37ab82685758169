package sanitize_test

import (
	"bytes"
	"encoding/base64"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gonebox/gonebox/internal/sanitize"
)

var update = flag.Bool("update", false, "write testdata/golden.txt")

func TestHTMLOfHostileMail(t *testing.T) {
	n := 0
	for class, bodies := range hostile {
		n += len(bodies)
		t.Run(class, func(t *testing.T) {
			for _, src := range bodies {
				out := sanitize.HTML(src, "seed", anyImage)
				check(t, src, out, mailElements, mailAttributes)
				if again := sanitize.HTML(out, "seed", anyImage); again != out {
					t.Errorf("the output changes when it is sanitized again, want it as it is\n in    %q\n once  %q\n twice %q", src, out, again)
				}
				if low := strings.ToLower(out); strings.Contains(low, "<script") || strings.Contains(low, "evil.example/") && strings.Contains(low, "<style") {
					t.Errorf("HTML(%q) = %q, want no script, and no foreign address beside a style element", src, out)
				}
			}
		})
	}
	if n < 150 {
		t.Errorf("only %d hostile bodies, want at least 150", n)
	}
}

func TestNoticeOfHostileHTML(t *testing.T) {
	bodies := map[string][]string{"notice": hostileNotice}
	maps.Copy(bodies, hostile)
	for class, b := range bodies {
		t.Run(class, func(t *testing.T) {
			for _, src := range b {
				out := sanitize.Notice(src)
				check(t, src, out, noticeElements, noticeAttributes)
				if again := sanitize.Notice(out); again != out {
					t.Errorf("the output changes when it is sanitized again, want it as it is\n in    %q\n once  %q\n twice %q", src, out, again)
				}
			}
		})
	}
}

func TestNotice(t *testing.T) {
	const src = `<h2>Maintenance</h2><p lang="en">See <a href="/status?x=1">status</a> or <a href="https://a.example/">there</a>.</p>` +
		`<ul><li>one</li></ul><table><tbody><tr><td colspan="2">x</td></tr></tbody></table>`
	const rel = ` rel="noopener noreferrer nofollow" target="_blank"`
	want := strings.NewReplacer(`"/status?x=1"`, `"/status?x=1"`+rel, `"https://a.example/"`, `"https://a.example/"`+rel).Replace(src)
	if got := sanitize.Notice(src); got != want {
		t.Errorf("Notice = %s\nwant %s", got, want)
	}
}

// anyImage has a picture for every cid: URL.
func anyImage(string, int) (string, []byte, bool) { return "image/png", png, true }

var png = []byte("\x89PNG\r\n\x1a\nrest")

func TestImages(t *testing.T) {
	data := func(kind string, b []byte) string {
		return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(b)
	}
	jpeg, gif := []byte("\xff\xd8\xff\xe0rest"), []byte("GIF89arest")
	webp, bmp := []byte("RIFF\x00\x00\x00\x00WEBPVP8 "), []byte("BMrest")
	parts := map[string]struct {
		kind string
		data []byte
	}{
		"png": {"image/png", png}, "jpeg": {"image/JPEG; name=x.jpg", jpeg}, "jpg": {"image/jpg", jpeg}, "gif": {"image/gif", gif},
		"webp": {"image/webp", webp}, "bmp": {"image/bmp", bmp}, "mislabelled": {"image/png", gif},
		"svg": {"image/svg+xml", []byte("<svg onload=alert(1)>")}, "svg as png": {"image/png", []byte("<svg onload=alert(1)>")},
		"html": {"text/html", png}, "empty": {"image/png", nil}, "no type": {"", png}, "bad type": {"image/png; =", png},
		"limit": {"image/png", pad(png, 512<<10)}, "over": {"image/png", pad(png, 512<<10+1)}, "a+b%40c@d": {"image/png", png},
	}
	image := func(cid string, _ int) (string, []byte, bool) {
		p, ok := parts[cid]
		return p.kind, p.data, ok
	}
	tests := []struct{ src, want string }{
		{"cid:png", data("image/png", png)},
		{" CID:png ", data("image/png", png)},
		{"cid:jpeg", data("image/jpeg", jpeg)},
		{"cid:jpg", data("image/jpeg", jpeg)},
		{"cid:gif", data("image/gif", gif)},
		{"cid:webp", data("image/webp", webp)},
		{"cid:bmp", data("image/bmp", bmp)},
		{"cid:mislabelled", data("image/gif", gif)},
		{"cid:a%2Bb%2540c%40d", data("image/png", png)},
		{"cid:limit", data("image/png", parts["limit"].data)},
		{"cid:over", ""},
		{"cid:svg", ""},
		{"cid:svg%20as%20png", ""},
		{"cid:html", ""},
		{"cid:empty", ""},
		{"cid:no%20type", ""},
		{"cid:bad%20type", ""},
		{"cid:missing", ""},
		{data("image/png", png), data("image/png", png)},
		{"DATA:IMAGE/PNG;BASE64," + base64.StdEncoding.EncodeToString(png), data("image/png", png)},
		{data("image/png", jpeg), data("image/jpeg", jpeg)},
		{data("image/svg+xml", []byte("<svg>")), ""},
		{data("image/png", parts["over"].data), ""},
		{"https://a.example/x y.png", "https://a.example/x%20y.png"},
		{"//a.example/x.png", "https://a.example/x.png"},
		{"x.png", ""},
		{"file:///x.png", ""},
	}
	for _, tt := range tests {
		want := `<img alt="x">`
		if tt.want != "" {
			want = `<img src="` + tt.want + `" alt="x">`
		}
		if got := sanitize.HTML(`<img src="`+tt.src+`" alt="x">`, "seed", image); got != want {
			t.Errorf("HTML of an image at %.60s\ngot  %.120s\nwant %.120s", tt.src, got, want)
		}
	}
	if got := sanitize.HTML(`<img src="cid:png">`, "seed", nil); got != "<img>" {
		t.Errorf(`without parts: %q, want "<img>"`, got)
	}
}

func TestImagesOfAMailAreBounded(t *testing.T) {
	big := pad(png, 512<<10)
	image := func(string, int) (string, []byte, bool) { return "image/png", big, true }
	out := sanitize.HTML(strings.Repeat(`<img src="cid:a">`, 1000), "seed", image)
	if n := strings.Count(out, "data:"); n != 4 {
		t.Errorf("%d images were inlined, want 4", n)
	}
	if n := strings.Count(out, "<img"); n != 1000 {
		t.Errorf("%d images are left, want 1000", n)
	}
}

// A mail of 1.25 MB can name an image 30,000 times.
func TestAnImageIsFetchedOnce(t *testing.T) {
	calls, least := 0, 1<<30
	image := func(cid string, most int) (string, []byte, bool) {
		calls++
		least = min(least, most)
		return "image/png", pad(png, max(min(300<<10, most), len(png))), true
	}
	out := sanitize.HTML(strings.Repeat(`<img src="cid:a">`, 30_000), "seed", image)
	if calls != 1 {
		t.Errorf("it was fetched %d times, want 1", calls)
	}
	if n := strings.Count(out, "data:"); n != 6 {
		t.Errorf("%d images were inlined, want 6", n)
	}
	calls = 0
	var many strings.Builder
	for i := range 100 {
		fmt.Fprintf(&many, `<img src="cid:%d">`, i)
	}
	sanitize.HTML(many.String(), "seed", image)
	if calls != 100 || least > 2<<20-6*300<<10 {
		t.Errorf("%d parts were fetched, the last of up to %d bytes, want 100 and at most %v", calls, least, 2<<20-6*300<<10)
	}
}

// Tiny images are many: each counts.
func TestUsesOfTinyImagesAreBounded(t *testing.T) {
	out := sanitize.HTML(strings.Repeat(`<img src="cid:a">`, 5000), "seed", func(string, int) (string, []byte, bool) { return "image/png", png, true })
	if n := strings.Count(out, "data:"); n != 2048 {
		t.Errorf("%d images were inlined, want 2048", n)
	}
}

func pad(b []byte, n int) []byte { return append(bytes.Clone(b), make([]byte, n-len(b))...) }

func TestStyles(t *testing.T) {
	tests := []struct{ in, want string }{
		{"color:red", "color:red"},
		{" COLOR : Red ; ", "color:Red"},
		{"color:#fff;background-color:rgb(1, 2, 3)", "color:#fff;background-color:rgb(1, 2, 3)"},
		{"font:bold 12px/1.5 'Segoe UI', \"Microsoft YaHei\", 微软雅黑, sans-serif", "font:bold 12px/1.5 'Segoe UI', \"Microsoft YaHei\", 微软雅黑, sans-serif"},
		{"margin:0 auto !important", "margin:0 auto !important"},
		{"margin:0 -1px;color:red", "color:red"},
		{"letter-spacing:-0.5px", "letter-spacing:-0.5px"},
		{"display:none;mso-hide:all", "display:none"},
		{"color/**/:red;/* x */width:1px", "color:red;width:1px"},
		{"background:#fff url(x) no-repeat;width:1px", "width:1px"},
		{"background:#fff no-repeat", "background:#fff no-repeat"},
		{"color:red;;;width:", "color:red"},
		{"width:100%;max-width:600px", "width:100%;max-width:600px"},
		{"width:eXpression", ""},
		{"nonsense", ""},
		{strings.Repeat("color:red;", 1000), ""},
	}
	for _, tt := range tests {
		want := "<p>x</p>"
		if tt.want != "" {
			want = `<p style="` + strings.NewReplacer(`"`, "&#34;", "'", "&#39;").Replace(tt.want) + `">x</p>`
		}
		in := `<p style="` + strings.ReplaceAll(tt.in, `"`, "&quot;") + `">x</p>`
		if got := sanitize.HTML(in, "seed", nil); got != want {
			t.Errorf("HTML(%q)\ngot  %s\nwant %s", tt.in, got, want)
		}
	}
}

// TestLayouts compares what is left of realistic mails with their sections of golden.txt.
func TestLayouts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.in.html")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are %d layouts in testdata, want some (error %v)", len(files), err)
	}
	wants := readGolden(t)
	var got strings.Builder
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(file), ".in.html")
		for _, output := range []struct{ heading, text string }{
			{name + " HTML", sanitize.HTML(string(src), "seed", anyImage)},
			{name + " Text", sanitize.Text(string(src))},
		} {
			fmt.Fprintf(&got, "=== %s\n%s\n", output.heading, output.text)
			want, ok := wants[output.heading]
			delete(wants, output.heading)
			if (!ok || want != output.text) && !*update {
				t.Errorf("sanitize.%s of %s (-want section %q of golden.txt, +got):\n%s", output.heading[len(name)+1:], file, output.heading, cmp.Diff(want, output.text))
			}
		}
	}
	if *update {
		if err := os.WriteFile("testdata/golden.txt", []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	for heading := range wants {
		t.Errorf("golden.txt has a section %q, want a layout for it in testdata", heading)
	}
}

func TestACommentInPreIsNoLineEnd(t *testing.T) {
	const src = "<pre><!--\n--></pre>"
	if got := sanitize.HTML(src, "seed", nil); got != "<pre></pre>" {
		t.Errorf("HTML(%q) = %q, want an empty pre", src, got)
	}
}

// readGolden reads the sections of golden.txt by their headings, without the line end that closes each.
func readGolden(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("testdata/golden.txt")
	if err != nil {
		t.Fatal(err)
	}
	sections := make(map[string]string)
	for section := range strings.SplitSeq("\n"+strings.TrimSuffix(string(text), "\n"), "\n=== ") {
		if heading, content, ok := strings.Cut(section, "\n"); ok {
			sections[heading] = content
		}
	}
	return sections
}

func FuzzHTML(f *testing.F) {
	for _, bodies := range hostile {
		for _, b := range bodies {
			f.Add(b)
		}
	}
	f.Add(sampleMail(2000))
	f.Add("<stYle>*{width:0//0</stYle 000") // found by fuzzing
	f.Fuzz(func(t *testing.T, src string) {
		out := sanitize.HTML(src, "seed", anyImage)
		check(t, src, out, mailElements, mailAttributes)
		if again := sanitize.HTML(out, "seed", anyImage); again != out {
			t.Errorf("the output changes when it is sanitized again, want it as it is\n in    %q\n once  %q\n twice %q", src, out, again)
		}
	})
}

func FuzzNotice(f *testing.F) {
	for _, b := range hostileNotice {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, src string) {
		out := sanitize.Notice(src)
		check(t, src, out, noticeElements, noticeAttributes)
		if again := sanitize.Notice(out); again != out {
			t.Errorf("the output changes when it is sanitized again, want it as it is\n in    %q\n once  %q\n twice %q", src, out, again)
		}
	})
}
