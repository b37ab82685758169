package otp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
)

// TestGroupsJoin holds that seven and eight digits in unequal groups are one code.
func TestGroupsJoin(t *testing.T) {
	wantCodes(t, "Sign in", map[string]string{
		"Your security code: 5582 013":                         "5582013",
		"Your security code: 558 2013":                         "5582013",
		"Your security code: 5582\u00a0013":                    "5582013",
		"Your security code: 5582·013":                         "5582013",
		"Your security code: 55 820 137":                       "55820137",
		"Your security code: 55 8201":                          "558201",
		"5582 013 is your security code.":                      "5582013",
		"Your verification code is 5582 013. It expires soon.": "5582013",
	})
}

// TestNeighboursStayApart holds that a code keeps to itself where another number
// follows it or comes before it.
func TestNeighboursStayApart(t *testing.T) {
	wantCodes(t, "Sign in", map[string]string{
		"Your security code: 482913 10 minutes":      "482913",
		"Your security code: 482913 180 seconds":     "482913",
		"您的验证码 482913 5 分钟内有效":                       "482913",
		"您的验证码 482913 5分钟内有效":                        "482913",
		"Your security code: 482913 10:45":           "482913",
		"Your security code: 482913 12.05.2026":      "482913",
		"Your security code: 482913 5%":              "482913",
		"Your security code 482913 2026 Acme":        "482913",
		"Your security code: 482913\n20 Main Street": "482913",
	})
}

// TestNoGroupIsTheCode holds that one of several groups is never the code, however
// they are parted.
func TestNoGroupIsTheCode(t *testing.T) {
	const digits = "5582013764918"
	forms := []string{
		"Your security code: %s",
		"Your security code: %s\n\nIt expires in ten minutes.",
		"Your verification code is %s. It expires soon.",
		"%s is your verification code.",
		"%s 是您的验证码。",
		"Your code:\n\n%s\n\nThank you",
	}
	sizes := [][]int{
		{1, 4},
		{4, 1},
		{1, 3, 3},
		{2, 3},
		{3, 2},
		{2, 4},
		{4, 2},
		{2, 5},
		{5, 2},
		{2, 6},
		{6, 2},
		{3, 4},
		{4, 3},
		{4, 4},
		{3, 5},
		{5, 3},
		{3, 6},
		{6, 3},
		{4, 5},
		{5, 4},
		{5, 5},
		{4, 6},
		{6, 4},
		{2, 3, 2},
		{3, 2, 3},
		{2, 2, 3},
		{2, 2, 4},
		{2, 3, 3},
		{3, 3, 2},
		{4, 4, 1},
		{4, 4, 4},
		{1, 2, 2, 2},
	}
	for _, sep := range []string{" ", "  ", "\u00a0", "\u202f", "\u2009", "-", "\u2011", "–", ".", "·"} {
		for _, groups := range sizes {
			whole, written := grouped(digits, groups, sep)
			for _, form := range forms {
				text := fmt.Sprintf(form, written)
				for _, m := range []otp.Mail{{Text: text}, {HTML: "<p>" + strings.ReplaceAll(text, written, "<b>"+written+"</b>")}} {
					m.Subject = "Sign in"
					if got := otp.Extract(m).Code; got != "" && got != whole {
						t.Errorf("Extract(%q) = %q, want all of %q or nothing", m.Text+m.HTML, got, whole)
					}
				}
			}
		}
	}
}

// grouped gives the first digits as they are and in groups of these sizes.
func grouped(digits string, sizes []int, sep string) (whole, written string) {
	var groups []string
	n := 0
	for _, size := range sizes {
		groups = append(groups, digits[n:n+size])
		n += size
	}
	return digits[:n], strings.Join(groups, sep)
}
