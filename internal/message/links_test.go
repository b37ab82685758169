package message_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/message"
)

// TestFollowReadsEnough compares the link of a mail that is found near its beginning with the one that is found by reading all of it.
func TestFollowReadsEnough(t *testing.T) {
	pieces := []func(n int) string{
		func(n int) string { return fmt.Sprintf(`<p>Lamps and tables of this week, number %d.</p>`, n) },
		func(n int) string { return fmt.Sprintf(`<a href="https://shop.example/item/%d">Look at it</a>`, n) },
		func(n int) string {
			return fmt.Sprintf(`<tr><td>A lamp</td><td><a href="https://shop.example/lamp/%d">See</a></td></tr>`, n)
		},
		func(n int) string {
			return fmt.Sprintf(`<a href="https://shop.example/logo/%d"><img src="x" alt="Shop"></a>`, n)
		},
		func(int) string { return `<a href="https://shop.example/"><img src="x" alt="Shop"></a>` },
		func(int) string { return `<a href="https://shop.example">shop.example</a>` },
		func(n int) string { return fmt.Sprintf(`<a href="https://shop.example/out/%d">Unsubscribe</a>`, n) },
		func(n int) string {
			return fmt.Sprintf(`<p>To unsubscribe from this list, <a href="https://shop.example/gone/%d">click here</a>.</p>`, n)
		},
		func(n int) string {
			return fmt.Sprintf(`<a href="https://shop.example/here/%d">click here</a> to unsubscribe<br>`, n)
		},
		func(n int) string { return fmt.Sprintf(`<a href="https://shop.example/web/%d">View in browser</a>`, n) },
		func(n int) string { return fmt.Sprintf(`<p>Go to https://shop.example/bare/%d today</p>`, n) },
		func(n int) string {
			return fmt.Sprintf(`<a href="https://shop.example/cancel/%d">This was not me</a>`, n)
		},
	}
	dice := rand.New(rand.NewPCG(7, 43))
	for range 5000 {
		var html strings.Builder
		var refused []string
		for n := range dice.IntN(40) {
			piece := pieces[dice.IntN(len(pieces))](n)
			if _, rest, ok := strings.Cut(piece, `"https://shop.example/cancel/`); ok {
				number, _, _ := strings.Cut(rest, `"`)
				refused = append(refused, "https://shop.example/cancel/"+number)
			}
			html.WriteString(piece)
		}
		if got, want := message.Follow(html.String(), "", refused); got != want {
			t.Fatalf("follow(%s) = %s, want %s, which it says if it reads every link", html.String(), got, want)
		}
	}
}

// A text that repeats an address costs no more than one with as many addresses as are read.
func TestRepeatedAddressesAreReadAFewTimes(t *testing.T) {
	const again, last = "http://192.0.2.1/ ", "https://shop.example/last"
	for repeated, want := range map[int]string{0: last, 99: "http://192.0.2.1/ " + last, 100: "http://192.0.2.1/", 500_000: "http://192.0.2.1/"} {
		if got := strings.Join(message.LinksOf(strings.Repeat(again, repeated)+last, 10), " "); got != want {
			t.Errorf("links of %q %d times and %s, of which 10 are listed: got %q, want %q", again, repeated, last, got, want)
		}
	}
}

// What several links near the beginning say of the same address counts together.
func TestFollowJoinsLinksOfOneAddress(t *testing.T) {
	const other = "<br>\n<a href='https://shop.example/2'>Two</a><br>\n<a href='https://shop.example/3'>Three</a>"
	for _, tt := range []struct{ html, want string }{
		{`<a href="https://shop.example/1">Our lamps</a>` + other, "https://shop.example/1"},
		{`<a href="https://shop.example/1">Our lamps</a><br><a href="HTTPS://SHOP.example/1">View in browser</a>` + other, "https://shop.example/2"},
		{`<a href="https://shop.example/1"><img alt="Shop"></a><br><a href="https://SHOP.example/1">Our lamps</a>` + other, "https://shop.example/1"},
		{`<a href="https://shop.example/1"><img alt="Shop"></a><br><a href="https://shop.example/1"><img></a>` + other, "https://shop.example/2"},
	} {
		if got, all := message.Follow(tt.html, "", nil); got != tt.want || all != tt.want {
			t.Errorf("follow(%s) = %s, and %s if it reads every link, want %s", tt.html, got, all, tt.want)
		}
	}
}
