package otp_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gonebox/gonebox/internal/otp"
)

// paraphrase is what one language says around a code, in parts that go with one
// another. None of it is taken from the labelled mails.
type paraphrase struct {
	lang     string
	subjects []string
	sayings  []string // with the code
	tails    []string
	others   []string // with a number that is no code
}

var paraphrases = []paraphrase{
	{
		"en",
		[]string{"Finish signing in", "Is it you, Nora?", "Reset your password"},
		[]string{"Type %s on the sign-in page.", "Your one-time number: %s", "Please use the security code %s to go on.", "Copy %s into the box."},
		[]string{"", "It expires in ten minutes.", "Tell nobody. If this was not you, ignore this message."},
		[]string{"Your order %s is on its way.", "Show %s at the counter to collect it.", "Use coupon %s at checkout.", "Meeting ID %s, starts at 3.", "Ticket %s was closed."},
	},
	{
		"es",
		[]string{"Termina de entrar", "¿Eres tú, Nora?", "Restablece tu contraseña"},
		[]string{"Escribe %s en la página de acceso.", "Tu número de un solo uso: %s", "Usa el código de seguridad %s para seguir.", "Copia %s en la casilla."},
		[]string{"", "Caduca en diez minutos.", "No lo compartas. Si no has sido tú, ignora este mensaje."},
		[]string{"Tu pedido %s está en camino.", "Enseña %s en el mostrador.", "Usa el cupón %s al pagar.", "Reunión %s, a las 15:00.", "La incidencia %s se ha cerrado."},
	},
	{
		"fr",
		[]string{"Terminez votre connexion", "Est-ce bien vous, Nora ?", "Réinitialisez votre mot de passe"},
		[]string{"Tapez %s sur la page de connexion.", "Votre numéro à usage unique : %s", "Utilisez le code de sécurité %s pour continuer.", "Recopiez %s dans la case."},
		[]string{"", "Il expire dans dix minutes.", "Ne le donnez à personne. Si ce n'est pas vous, ignorez ce message."},
		[]string{"Votre commande %s est en route.", "Présentez %s au comptoir pour le retrait.", "Bon d'achat %s à saisir au panier.", "Réunion %s, à 15 h.", "Le dossier %s est clos."},
	},
	{
		"de",
		[]string{"Anmeldung abschließen", "Sind Sie es, Nora?", "Passwort zurücksetzen"},
		[]string{"Geben Sie %s auf der Anmeldeseite ein.", "Ihre einmalige Nummer: %s", "Bitte den Sicherheitscode %s verwenden.", "Tragen Sie %s in das Feld ein."},
		[]string{"", "Gilt zehn Minuten.", "Niemandem weitergeben. Waren Sie es nicht, ignorieren Sie diese Nachricht."},
		[]string{"Ihre Bestellung %s ist unterwegs.", "Zeigen Sie %s bei der Abholung vor.", "Gutschein %s an der Kasse einlösen.", "Besprechung %s, 15 Uhr.", "Ticket %s wurde geschlossen."},
	},
	{
		"it",
		[]string{"Completa l'accesso", "Sei tu, Nora?", "Reimposta la password"},
		[]string{"Digita %s nella pagina di accesso.", "Il tuo numero monouso: %s", "Usa il codice di sicurezza %s per continuare.", "Copia %s nella casella."},
		[]string{"", "Scade tra dieci minuti.", "Non darlo a nessuno. Se non sei stato tu, ignora questo messaggio."},
		[]string{"Il tuo ordine %s è in viaggio.", "Mostra %s al banco per il ritiro.", "Buono sconto %s alla cassa.", "Riunione %s, ore 15.", "La pratica %s è chiusa."},
	},
	{
		"pt",
		[]string{"Conclua a entrada", "É você, Nora?", "Redefina a sua senha"},
		[]string{"Digite %s na página de acesso.", "O seu número de uso único: %s", "Use o código de segurança %s para continuar.", "Copie %s na caixa."},
		[]string{"", "Expira em dez minutos.", "Não partilhe com ninguém. Se não foi você, ignore esta mensagem."},
		[]string{"O seu pedido %s está a caminho.", "Mostre %s no balcão.", "Use o cupom %s no carrinho.", "Reunião %s, às 15h.", "O processo %s foi encerrado."},
	},
	{
		"nl",
		[]string{"Rond het inloggen af", "Ben jij dit, Nora?", "Wachtwoord herstellen"},
		[]string{"Typ %s op de inlogpagina.", "Je eenmalige nummer: %s", "Gebruik de beveiligingscode %s om verder te gaan.", "Vul %s in het vakje in."},
		[]string{"", "Tien minuten geldig.", "Deel dit met niemand. Was jij dit niet, negeer dan dit bericht."},
		[]string{"Je bestelling %s is onderweg.", "Laat %s zien bij het ophalen.", "Kortingsbon %s aan de kassa.", "Vergadering %s, 15 uur.", "Ticket %s is gesloten."},
	},
	{
		"pl",
		[]string{"Dokończ logowanie", "Czy to Ty, Noro?", "Zresetuj hasło"},
		[]string{"Wpisz %s na stronie logowania.", "Twój jednorazowy numer: %s", "Użyj kodu bezpieczeństwa %s, aby przejść dalej.", "Przepisz %s w okienko."},
		[]string{"", "Ważny dziesięć minut.", "Nikomu go nie podawaj. Jeśli to nie Ty, zignoruj wiadomość."},
		[]string{"Twoje zamówienie %s jest w drodze.", "Pokaż %s przy odbiorze.", "Kupon %s w koszyku.", "Spotkanie %s o 15.", "Zgłoszenie %s zamknięto."},
	},
	{
		"ru",
		[]string{"Завершите вход", "Это вы, Нора?", "Сброс пароля"},
		[]string{"Введите %s на странице входа.", "Ваш одноразовый номер: %s", "Код безопасности %s поможет продолжить.", "Перепишите %s в окошко."},
		[]string{"", "Действует десять минут.", "Никому не сообщайте. Если это не вы, проигнорируйте письмо."},
		[]string{"Ваш заказ %s в пути.", "Назовите %s при получении заказа.", "Купон %s в корзине.", "Встреча %s в 15:00.", "Обращение %s закрыто."},
	},
	{
		"tr",
		[]string{"Girişi tamamlayın", "Siz misiniz, Nora?", "Şifre sıfırlama"},
		[]string{"Giriş sayfasına %s yazın.", "Tek kullanımlık numaranız: %s", "Devam etmek için güvenlik kodu: %s", "Kutuya %s girin."},
		[]string{"", "On dakika geçerlidir.", "Kimseyle paylaşmayın. Siz değilseniz yok sayın."},
		[]string{"%s numaralı siparişiniz yolda.", "Kupon %s sepette geçerli.", "Toplantı %s, saat 15.", "Fatura no %s"},
	},
	{
		"ar",
		[]string{"أكمل تسجيل الدخول", "هل أنت نورا؟", "إعادة تعيين كلمة المرور"},
		[]string{"اكتب %s في صفحة الدخول.", "رقمك لمرة واحدة: %s", "رمز الأمان هو %s", "أدخل %s في الخانة."},
		[]string{"", "ينتهي خلال عشر دقائق.", "لا تشاركه مع أحد. إذا لم تكن أنت فتجاهل الرسالة."},
		[]string{"طلبك رقم %s في الطريق.", "قسيمة %s في السلة.", "اجتماع %s الساعة الثالثة.", "فاتورة رقم %s"},
	},
	{
		"zh",
		[]string{"完成登录", "是您本人吗", "重置密码"},
		[]string{"请在登录页面输入 %s。", "一次性数字:%s", "安全码 %s,请继续操作。", "请把 %s 填入框中。"},
		[]string{"", "十分钟内有效。", "请勿告诉任何人。如非本人操作请忽略。"},
		[]string{"您的订单 %s 已发货。", "取件码 %s", "优惠券 %s 可在结账时使用。", "会议 %s,下午三点。", "工单号 %s 已关闭。"},
	},
	{
		"ja",
		[]string{"ログインの完了", "ご本人ですか", "パスワードの再設定"},
		[]string{"ログイン画面に %s を入力してください。", "一度だけ使える番号:%s", "セキュリティコードは %s です。", "枠に %s をご記入ください。"},
		[]string{"", "十分間有効です。", "誰にも教えないでください。お心当たりがなければ無視してください。"},
		[]string{"ご注文 %s を発送しました。", "受け取り番号 %s", "クーポン %s をレジでお使いください。", "会議 %s、15時から。", "お問い合わせ番号 %s"},
	},
}

// shapes are codes as mails write them.
var shapes = []string{"482913", "482 913", "048-213", "5071", "20448", "20471133"}

// dresses are ways to set a sentence: as it is, the number in a block of its own,
// strong, or one digit to a cell.
var dresses = []func(saying, code string) (text, html string){
	func(s, code string) (string, string) { return fmt.Sprintf(s, code), "" },
	func(s, code string) (string, string) { return "", "<p>" + fmt.Sprintf(s, "<b>"+code+"</b>") + "</p>" },
	func(s, code string) (string, string) {
		return "", "<table><tr><td>" + fmt.Sprintf(s, "</td></tr><tr><td style='font-size:32px'>"+code+"</td></tr><tr><td>") + "</td></tr></table>"
	},
}

// TestParaphrases reads every combination of the tables above: sentences that
// announce a code in mails about signing in, and sentences that name another
// number in mails that are not.
func TestParaphrases(t *testing.T) {
	right, missed, clean, wrong := 0, 0, 0, 0
	for _, p := range paraphrases {
		for _, code := range shapes {
			for _, dress := range dresses {
				for _, saying := range p.sayings {
					for i, subject := range p.subjects {
						text, html := dress(saying, code)
						if got := otp.Extract(dressed(subject, text, html, p.tails[i])).Code; got == bare(code) {
							right++
						} else if missed++; missed < 20 {
							t.Logf("%s: %q, want %q: %s | %s%s", p.lang, got, code, subject, text, html)
						}
					}
				}
				for _, other := range p.others {
					text, html := dress(other, code)
					if got := otp.Extract(dressed("Fernhill", text, html, "")).Code; got == "" {
						clean++
					} else if wrong++; wrong < 20 {
						t.Logf("%s: %q, want none: %s%s", p.lang, got, text, html)
					}
				}
			}
		}
	}
	if missed*100 > right*3 || wrong*100 > clean {
		t.Errorf("%d codes right and %d missed, %d mails clean and %d wrong; want at most 3 missed in 100 and 1 wrong in 100", right, missed, clean, wrong)
	}
}

func dressed(subject, text, html, tail string) otp.Mail {
	if html != "" {
		return otp.Mail{Subject: subject, HTML: html + "<p>" + tail + "</p>"}
	}
	return otp.Mail{Subject: subject, Text: text + "\n\n" + tail}
}

// bare is a code without what parts its groups.
func bare(code string) string { return strings.NewReplacer(" ", "", "-", "").Replace(code) }
