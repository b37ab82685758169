package otptest

import (
	"fmt"
	"iter"
	"strings"

	"github.com/gonebox/gonebox/internal/otp"
)

// LinkMails is what services of one language write in their plainest mails that ask to
// open a link. %b stands for the brand.
type LinkMails struct {
	Lang                 string
	Asks                 []Ask
	Cancel, CancelButton string
	Unsubscribe          string
	GoButton, GoAddress  string
	View, Accept, Refuse string
}

// Ask is a mail that asks for an action.
type Ask struct {
	Kind                      otp.ActionKind
	Subject, Sentence, Button string
}

// LinkCase is a mail with the action that is wanted of it; an empty address stands for none.
type LinkCase struct {
	Name string
	Mail otp.Mail
	URL  string
	Kind otp.ActionKind
}

// ParseLinkMails reads testdata/links.txt.
func ParseLinkMails(text string) (all []LinkMails, err error) {
	for key, rest := range keyedLines(text) {
		last := len(all) - 1
		parts := strings.Split(rest, " | ")
		switch {
		case key == "==":
			all = append(all, LinkMails{Lang: rest})
		case last >= 0 && key == "unsubscribe:":
			all[last].Unsubscribe = rest
		case last >= 0 && key == "cancel:" && len(parts) == 2:
			all[last].Cancel, all[last].CancelButton = parts[0], parts[1]
		case last >= 0 && key == "go:" && len(parts) == 2:
			all[last].GoButton, all[last].GoAddress = parts[0], parts[1]
		case last >= 0 && key == "choice:" && len(parts) == 3:
			all[last].View, all[last].Accept, all[last].Refuse = parts[0], parts[1], parts[2]
		case last >= 0 && len(parts) == 3:
			all[last].Asks = append(all[last].Asks, Ask{otp.ActionKind(strings.TrimSuffix(key, ":")), parts[0], parts[1], parts[2]})
		default:
			return nil, fmt.Errorf("line %q: want == or a kind of action with three parts, cancel, go, choice or unsubscribe", key+" "+rest)
		}
	}
	return all, nil
}

// site is how the addresses of a mail look.
type site struct{ name, front, action, cancel, unsubscribe, help string }

// sites are a site whose addresses speak, one whose addresses do not, and one behind a
// tracker of clicks.
var sites = []site{
	{"plain", "https://www.acme.example", "https://acme.example/account/8c1d0f2a", "https://acme.example/report/77ab01cd", "https://acme.example/unsubscribe?u=5", "https://acme.example/help"},
	{"mute", "https://acme.example/?utm=1", "https://acme.example/a/8c1d0f2a", "https://acme.example/b/77ab01cd", "https://acme.example/c/5", "https://acme.example/d"},
	{"tracked", "https://u41.ct.example/ls/click?upn=authLOGO", "https://u41.ct.example/ls/click?upn=a1b2", "https://u41.ct.example/ls/click?upn=verify3", "https://u41.ct.example/ls/click?upn=confirm4", "https://u41.ct.example/ls/click?upn=reset5"},
}

// logos are what stands above a mail.
var logos = []string{"", `<a href="%f"><img src="https://i.example/l.png" alt="%b" width="90"></a>`, `<p><a href="%f">%b</a></p>`}

// Matrix generates the mails of a language: each that asks for an action on each site, with
// each logo, with and without a second button, a footer and its address as text. Then it
// generates notices, whose only links are those of a logo, a footer and a button for looking at something.
func (s LinkMails) Matrix(notices []string) iter.Seq[LinkCase] {
	return func(yield func(LinkCase) bool) {
		for _, brand := range []string{"Acme", "Pine Store"} {
			for _, at := range sites {
				fill := strings.NewReplacer("%b", brand, "%f", at.front, "%n", "482913", "%c", "482913")
				for _, a := range s.Asks {
					for _, m := range s.asks(a, at) {
						m.Name = fmt.Sprintf("%s %s %s %s: %s", s.Lang, a.Kind, at.name, m.Name, brand)
						m.Mail.From, m.Mail.Subject, m.Mail.Text, m.Mail.HTML = "no-reply@acme.example", fill.Replace(a.Subject), fill.Replace(m.Mail.Text), fill.Replace(m.Mail.HTML)
						m.URL, m.Kind = at.action, a.Kind
						if !yield(m) {
							return
						}
					}
				}
				for _, notice := range notices {
					for _, m := range s.notice(notice, at) {
						m.Name = fmt.Sprintf("%s notice %s %s: %s", s.Lang, at.name, m.Name, fill.Replace(notice))
						m.Mail.From, m.Mail.Subject, m.Mail.Text, m.Mail.HTML = "no-reply@acme.example", fill.Replace(m.Mail.Subject), fill.Replace(m.Mail.Text), fill.Replace(m.Mail.HTML)
						if !yield(m) {
							return
						}
					}
				}
			}
		}
	}
}

// asks generates the mails that ask for an action on a site.
func (s LinkMails) asks(a Ask, at site) (all []LinkCase) {
	button := func(href, text string) string { return fmt.Sprintf(`<p><a href="%s">%s</a></p>`, href, text) }
	cancel := "<p>" + s.Cancel + "</p>" + button(at.cancel, s.CancelButton)
	foot := fmt.Sprintf(`<hr><p><small><a href="%s">%%b</a> · <a href="%s">%s</a></small></p>`, at.front, at.unsubscribe, s.Unsubscribe)
	for i, logo := range logos {
		for _, foot := range []string{"", foot} {
			head, act := logo+"<p>"+a.Sentence+"</p>", button(at.action, a.Button)
			for _, body := range [...]struct{ name, html string }{
				{"button", head + act},
				{"button, cancelling", head + act + cancel},
				{"cancelling, button", head + cancel + act},
				{"button and address", head + act + "<p>" + s.GoAddress + "</p><p>" + at.action + "</p>"},
			} {
				all = append(all, LinkCase{Name: fmt.Sprintf("%s, logo %d, footer %t", body.name, i, foot != ""), Mail: otp.Mail{HTML: body.html + foot}})
			}
		}
	}
	if a.Kind == otp.Invite {
		link := func(href, text string) string { return fmt.Sprintf(`<a href="%s">%s</a> `, href, text) }
		all = append(all, LinkCase{Name: "choice", Mail: otp.Mail{HTML: "<p>" + a.Sentence + "</p><p>" + link(at.help, s.View) + link(at.action, s.Accept) + link(at.cancel, s.Refuse) + "</p>" + foot}})
	}
	text := "%b\n" + at.front + "\n\n" + a.Sentence + "\n\n" + a.Button + ":\n" + at.action + "\n"
	return append(
		all, LinkCase{Name: "text", Mail: otp.Mail{Text: text}},
		LinkCase{Name: "text, cancelling", Mail: otp.Mail{Text: text + "\n" + s.Cancel + "\n" + at.cancel + "\n\n" + s.Unsubscribe + ": " + at.unsubscribe + "\n"}},
	)
}

// notice generates the mails that report something and ask for nothing.
func (s LinkMails) notice(says string, at site) (all []LinkCase) {
	subject, _, _ := strings.Cut(says, ".")
	for _, subject := range []string{"%b", subject} {
		for i, logo := range logos {
			html := logo + "<p>" + says + "</p>" + fmt.Sprintf(`<hr><p><small><a href="%s">%%b</a> · <a href="%s">%s</a></small></p>`, at.front, at.unsubscribe, s.Unsubscribe)
			view := fmt.Sprintf(`<p><a href="%s">%s</a></p>`, at.action, s.View)
			all = append(
				all, LinkCase{Name: fmt.Sprintf("logo %d, subject %q", i, subject), Mail: otp.Mail{Subject: subject, HTML: html}},
				LinkCase{Name: fmt.Sprintf("button, logo %d, subject %q", i, subject), Mail: otp.Mail{Subject: subject, HTML: strings.Replace(html, "<hr>", view+"<hr>", 1)}},
			)
		}
		all = append(
			all, LinkCase{Name: fmt.Sprintf("text, subject %q", subject), Mail: otp.Mail{Subject: subject, Text: says + "\n\n%b\n" + at.front + "\n"}},
			LinkCase{Name: fmt.Sprintf("cancelling, subject %q", subject), Mail: otp.Mail{Subject: subject, HTML: "<p>" + says + "</p><p>" + s.Cancel + ` <a href="` + at.cancel + `">` + s.CancelButton + "</a></p>"}},
		)
	}
	return all
}
