package otp_test

import (
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
)

// TestPhrases holds that words are a code after a strong name of one, and nowhere else.
func TestPhrases(t *testing.T) {
	wantCodes(t, "Tarn", map[string]string{
		"Your sign-in code is lucid-amber-otter.":                                          "lucid-amber-otter",
		"Your sign-in phrase:\n\nlucid-amber-otter":                                        "lucid-amber-otter",
		"Your sign-in phrase:\n\nlucid amber otter pine\n\nIt expires in ten minutes.":     "lucid amber otter pine",
		"Your verification code for Tarn is: Lucid-Amber-Otter-Pine. Do not share it.":     "Lucid-Amber-Otter-Pine",
		"Ihre Anmeldephrase lautet leise-amsel-tanne-wolke.":                               "leise-amsel-tanne-wolke",
		"Votre phrase de connexion :\n\nlune-ardoise-loutre":                               "lune-ardoise-loutre",
		"Tu frase de verificación es nube-farol-olivo.":                                    "nube-farol-olivo",
		"La frase di verifica:\n\nluna-abete-lontra":                                       "luna-abete-lontra",
		"Sua frase de verificação: nuvem-farol-lontra":                                     "nuvem-farol-lontra",
		"Фраза для входа: тихая-сосна-выдра":                                               "тихая-сосна-выдра",
		"Twoja fraza logowania:\n\ncicha-sosna-wydra":                                      "cicha-sosna-wydra",
		"確認コード：lucid-amber-otter":                                                          "lucid-amber-otter",
		"Your sign-in phrase is lucid-amber-otter, and your code is 482913.":               "482913",
		"Your verification code will arrive soon. See the state-of-the-art-security page.": "",
		"Your recovery phrase: keep safe lucid amber otter pine fern":                      "",
		"Your verification code expires soon.\n\nplease check your phone":                  "",
		"Your verification code:\n\nplease check your phone":                               "",
		"Read our article on the lucid-amber-otter.":                                       "",
		"Your promo code is lucid-amber-otter.":                                            "",
		"Your backup codes: lucid-amber-otter":                                             "",
		"Your sign-in phrase: one-two":                                                     "",
		"Your sign-in phrase: one-two-three-four-five-six-seven":                           "",
	})
	r := otp.Extract(otp.Mail{Subject: "Tarn", HTML: "<p>Your sign-in phrase</p><h1>lucid-amber-otter</h1>"})
	if r.Code != "lucid-amber-otter" || r.Display != r.Code || r.Kind != otp.Phrase || r.Confidence <= 0 {
		t.Errorf(`got %+v, want Code "lucid-amber-otter", Display %v, Kind %v and Confidence more than 0`, r, r.Code, otp.Phrase)
	}
}

// TestBoxesOfLetters holds that capitals and digits in cells of their own are one code.
func TestBoxesOfLetters(t *testing.T) {
	for code, html := range map[string]string{
		"K7P2XD": "<table><tr><td>K</td><td>7</td><td>P</td><td>2</td><td>X</td><td>D</td></tr></table>",
		"4K7P":   "<div>4</div><div>K</div><div>7</div><div>P</div>",
		"KQPZXD": "<table><tr><td>K</td><td>Q</td><td>P</td><td>Z</td><td>X</td><td>D</td></tr></table>",
	} {
		for _, name := range []string{"Your verification code:", "Ihr Bestätigungscode:", "認証コード：", "Kode verifikasi Anda:", "קוד האימות שלך:", "Mã xác minh của bạn:"} {
			r := otp.Extract(otp.Mail{Subject: "Tarn", HTML: "<p>" + name + "</p>" + html})
			if r.Code != code || r.Kind != otp.Alphanumeric {
				t.Errorf("%s in boxes of letters: Extract = %q of the kind %s, want %q and alphanumeric", name, r.Code, r.Kind, code)
			}
		}
	}
	long := "<p>Your verification code:</p><table><tr>" + strings.Repeat("<td>K</td><td>7</td>", 6) + "</tr></table>"
	if r := otp.Extract(otp.Mail{Subject: "Tarn", HTML: long}); r.Code != "" {
		t.Errorf(`a part of twelve boxes is read: %q, want Code ""`, r.Code)
	}
	grid := "<p>Seats</p><table><tr><td>A</td><td>1</td><td>B</td><td>2</td></tr></table>"
	if r := otp.Extract(otp.Mail{Subject: "Your booking", HTML: grid}); r.Code != "" {
		t.Errorf(`seats are read as %q, want Code ""`, r.Code)
	}
}
